package rules

import (
	"testing"
	"text/template/parse"
)

func TestSimpleTemplate(t *testing.T) {
	functions := templateFunctions()
	for text, want := range map[string]bool{
		"": true, "no action": true, "{{ $labels.pod }} of {{$labels.namespace}}": true, "{{ $value }}": true, "{{ $value | humanize }}": true,
		`{{ $value | printf "%.2f" | title }} {{$externalLabels.cluster}}`: true, "{{ $value|humanize }}}": true, "{{ $labels.a.b }}": true,
		`{{ $value | printf "%99.2f" }}`: true,
		// Valid or not, the parser has to read these.
		"{{ .Value }}": false, "{{- $value -}}": false, "{{ $value": false, "{{ $labelsx }}": false, "{{ $labels. }}": false, "{{ $labels.a-b }}": false,
		"{{ $value | nothing }}": false, "{{ $value | }}": false, "{{ $value humanize }}": false, `{{ $value | printf "}}" }}`: false, `{{ $value | printf "\n" }}`: false,
		// Their output may be large.
		`{{ $value | printf "%100f" }}`: false, `{{ $value | printf "%.1000f" }}`: false, `{{ $value | printf "%*f" }}`: false,
		"{{ $value | humanize$ }}": false, "{{ if $value }}a{{ end }}": false, "{{ $labels.1 }}": false, "{{ $other }}": false, `{{ $value | printf "a"b }}`: false,
		"{{ $value | printf \"a\nb\" }}": false, "{{{ $value }}": false, "{{ $value | end }}": false, "{{ $labels.é }}": false, "{{}}": false, "{{/* a */}}": false,
	} {
		if got := simpleTemplate(text, functions); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// FuzzSimpleTemplate: the parser accepts all simple templates.
func FuzzSimpleTemplate(f *testing.F) {
	for _, seed := range []string{`{{ $labels.pod }}: {{ $value | printf "%.2f" | humanize }}`, "{{$externalURL}}{{ $value|title}}", "{{ $labels.a.b }}}", `{{ $value | printf "a" "b"|title }}`} {
		f.Add(seed)
	}
	functions := templateFunctions()
	f.Fuzz(func(t *testing.T, text string) {
		if !simpleTemplate(text, functions) {
			return
		}
		if _, err := parse.Parse("a", prelude+text, "{{", "}}", functions); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if fields := UnknownFields(text); fields != nil {
			t.Errorf("%q: unknown fields %v", text, fields)
		}
	})
}

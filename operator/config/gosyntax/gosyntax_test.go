package gosyntax

import (
	"regexp"
	"testing"
	"text/template"
	"unicode"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

var old = gate.Target{Program: gate.Prometheus, Version: semver.MustParse("2.40.0")}

// TestForms: the forms are found in any spelling, and no other text is taken for them.
func TestForms(t *testing.T) {
	for text, newer := range map[string]bool{
		`(?<n>a)`: true, `a)|(?<n>b`: true, `(?P<n>a)`: false, `[(?<]`: false, `\Q(?<n>\E`: false, `\(\?<n>`: false,
		`\p{Kawi}`: true, `[^\P{^Kawi}]`: true, `\p{Greek}\pN\p{Lu}\p{Any}`: false,
		`\p{Letter}`: true, `\p{lu}`: true, `\p{LC}`: true,
	} {
		if _, err := regexp.Compile("^(?s:" + text + ")$"); err != nil {
			t.Errorf("%s: %v", text, err) // a caller would have rejected it
		}
		if err := Regexp(old, text); (err != nil) != newer {
			t.Errorf("%s: got %v", text, err)
		}
		if err := Regexp(gate.Target{}, text); err != nil {
			t.Errorf("%s, without a version: %v", text, err)
		}
	}
	between := gate.Target{Program: gate.Prometheus, Version: semver.MustParse("2.52.0")}
	if Regexp(between, "(?<n>a)") != nil || Selector(between, "(?<n>a)") == nil {
		t.Error("PromQL of Prometheus 2.52 parses fewer regular expressions than its relabelings")
	}
	for text, newer := range map[string]bool{
		"{{ with .A }}{{ else with .B }}{{ end }}":               true,
		"{{with .A}}{{else with .B}}{{end}}":                     true,
		"{{ with .A -}} {{-  else\n\twith .B -}} {{ end }}":      true,
		"{{ with .A }}{{ else }}{{ with .B }}{{ end }}{{ end }}": false,
		"{{ if .A }}{{ else if .B }}{{ end }}":                   false,
		"or else with a text {{ .A }}":                           false,
	} {
		if _, err := template.New("").Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := Template(old, text); (err != nil) != newer {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// TestUnicodeOfGo fails with the first version of Go that has scripts without a row.
func TestUnicodeOfGo(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Errorf("Go has Unicode %s: add a row with its scripts, and the first releases that were built with it", unicode.Version)
	}
}

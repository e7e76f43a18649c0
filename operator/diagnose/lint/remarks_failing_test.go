package lint

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestFailingTemplates: a template that fails for each alert gets a warning, one that depends on the alert does not.
func TestFailingTemplates(t *testing.T) {
	const fails = " fails, so the text is an error message when the alert fires: "
	for text, want := range map[string]string{
		`{{ if gt $value 5 }}x{{ end }}`:                                   `gt $value 5` + fails + `error calling gt: incompatible types for comparison: float64 and int; $value is a floating-point number: write gt $value 5.0`,
		`{{ if eq $labels.code 500 }}x{{ end }}`:                           `incompatible types for comparison: string and int; $value is compared with numbers with a point, such as 5.0, and labels with text in quotes`,
		`{{ $labels.instance | reReplaceAll ":.*" }}`:                      `wrong number of args for reReplaceAll: want 3 got 2; its arguments are the regular expression, the replacement and the text`,
		`{{ $labels.pod | reReplaceAll "(" "" }}`:                          "error parsing regexp: missing closing ): `(`",
		`{{ $labels.pod | title $value }}`:                                 `wrong number of args for title: want 1 got 2`,
		`{{ title $value }}`:                                               `expected string; got float64; for the value as text write printf "%.0f" $value`,
		`{{ $labels.pod.name }}`:                                           `can't evaluate field name in type string`,
		`{{ humanize $value | printf "%.2f" }}`:                            `printf writes %!f(string=1), because humanize returns text and not a number: leave out printf`,
		`{{ $value | humanizePercentage | printf "%.2f" }}`:                `because humanizePercentage returns text and not a number: leave out printf`,
		`{{ printf "%.2f" $labels.size }}`:                                 `printf writes %!f(string=), because the argument does not fit the format: $value is a number, for %.2f, and labels are text, for %s`,
		`{{ printf "%s of %s" $labels.size }}`:                             `printf writes %!s(MISSING)`,
		`{{ if gt $value 5.0 }}x{{ end }}`:                                 "",
		`{{ $labels.instance | reReplaceAll ":.*" "" }}`:                   "",
		`{{ $value | humanize }} {{ printf "%.2f%%" $value }}`:             "",
		`{{ $labels.size | humanize }} {{ $labels.at | parseDuration }}`:   "",
		`{{ with query "a" }}{{ . | first | value | humanize }}{{ end }}`:  "",
		`{{ query "a" | first | label "b" }} {{ $externalURL }}`:           "",
		`{{ index $labels "a-b" }} {{ slice $labels.pod 3 }} {{ args 1 }}`: "",
		`{{ range query "a" }}{{ gt .Value 5 }}{{ end }}`:                  "", // not executed
		`{{ printf "%999999999d" 1 }}`:                                     "",
		`100%!d(string=a) {{ $value | humanize }}`:                         "",
	} {
		got := ""
		say := func(field, format string, args ...any) {
			got += strings.TrimPrefix(field, "spec.groups[0].rules[0].annotations.summary") + fmt.Sprintf(format, args...)
		}
		templateRemarks(say, say, rulesOf(v1.Rule{Alert: "A", Expr: intstr.FromString("up"), Annotations: map[string]string{"summary": text}}))
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

package manifests

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The line of an error is that of the fault: in flow collections that with the wrong character, or the one at whose end
// a comma or bracket is missing.
func TestLineOfBrokenYAML(t *testing.T) {
	const head = "kind: ServiceMonitor\nspec:\n"
	for title, tc := range map[string]struct{ text, want string }{
		"a bracket in one line":            {head + "  endpoints: [{port: a, interval: 30s}, {port: b, interval: [}]\n", "yaml: line 3: did not find expected node content"},
		"a comma within a line":            {head + "  endpoints:\n  - {port: a interval: 30s}\n", "line 4: "},
		"a comma at the end":               {head + "  endpoints:\n  - {port: a,\n     interval: 30s\n     scheme: http}\n", "line 5: did not find expected ',' or '}'"},
		"a comma before a comment":         {head + "  endpoints:\n  - {port: a, # one\n     interval: 30s # two\n\n     # three\n     scheme: http}\n", "line 5: "},
		"a bracket at the end":             {head + "  endpoints: [a, b\n  selector: {}\n", "line 3: did not find expected ',' or ']'"},
		"a brace at the end":               {"kind: a\nmetadata: {name: a, namespace: b\nspec:\n  endpoints: []\n", "line 2: "},
		"a bracket that is never met":      {head + "  endpoints: [\n", "line 3: "},
		"a quote without an end":           {head + "  a: 'x'\n  interval: \"30s\n  selector: {}\n  b: c\n", "yaml: line 4: a quote has no end"},
		"a quote over two lines":           {head + "  a: 'x\n    y'\n  interval: '30s\n  selector: {}\n", "yaml: line 5: a quote has no end"},
		"another column":                   {head + "  a: b\n c: d\n", "line 4: did not find expected key; check the indentation"},
		"a key twice":                      {"kind: a\nspec: b\nkind: c\n", "line 3: apiVersion or kind is there twice"},
		"another key twice":                {head + "  a: b\n  c: d\n  a: e\n", `yaml: line 5: "a" is there twice in one object: remove one of them`},
		"two keys twice":                   {head + "  a: b\n  c: d\n  a: e\n  c: f\n", "\nyaml: line 6: \"c\" is there twice"},
		"PromQL that begins with a brace":  {head + "  groups:\n  - name: a\n    rules:\n    - expr: {job=\"web\"} == 0\n      for: 5m\n", "yaml: line 6: the value of expr begins with {, which has a meaning in YAML; put the whole value in single quotes"},
		"PromQL that begins with a quote":  {head + "  groups:\n  - expr: \"up{job=\"web\"} == 0\"\n    for: 5m\n", `yaml: line 4: the value of expr ends at its second ", and more follows; put the whole value in single quotes`},
		"a quote in single quotes":         {head + "  a: 'it's'\n  b: c\n", "yaml: line 3: the value of a ends at its second ', and more follows; write '' for a quote in it"},
		"a value that begins with percent": {head + "  a: %up\n", "yaml: line 3: the value of a begins with %, which"},
		"a colon in a value":               {head + "  summary: Error: too many\n", "yaml: line 3: the value of summary has a colon with a blank after it"},
		"a separator in two dashes":        {"kind: a\nspec: b\n--\nkind: c\n", "line 3: two manifests are separated by ---"},
		"an indented separator":            {head + "  a:\n  - b\n ---\nkind: c\n", "line 5: two manifests are separated by ---"},
		"a tab before a map in one line":   {head + "  selector:\n  \tmatchLabels: {app: a}\n", "yaml: line 4: there is a tab in the indentation; YAML is indented with blanks"},
		"a tab before a list":              {head + "  endpoints:\n\t- port: a\n", "yaml: line 4: there is a tab in the indentation"},
		"a text behind >":                  {head + "  expr: > up\n    == 0\n", "yaml: line 3: the value of expr begins with >, after which it has to begin in the next line"},
		"no blank after a colon":           {head + "  endpoints:\n  - port: a\n    interval:30s\n    path: /x\n", "yaml: line 5: there is no blank after the colon of interval, so this is a string and no field: write interval: and then a blank"},
		"no blank in the first line":       {head + "  endpoints:\n  - port:a\n    path: /x\n", "yaml: line 4: there is no blank after the colon of port"},
		"no colon":                         {head + "  endpoints:\n  - port: a\n    interval 30s\n    path: /x\n", "yaml: line 5: there is no colon after interval"},
		"an equals sign":                   {head + "  endpoints:\n  - port: a\n    interval = 30s\n    path: /x\n", "yaml: line 5: there is no colon after interval"},
		"no anchor":                        {head + "  a: &x {b: c}\n  d: *y\n", "yaml: line 4: *y refers to an anchor &y"},
	} {
		t.Run(title, func(t *testing.T) {
			_, err := yaml.YAMLToJSONStrict([]byte(tc.text))
			if err == nil {
				t.Fatal("it is valid")
			}
			if got := brokenYAML([]byte(tc.text), err).Error(); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// In a large document the end of which is not closed, the line is that where the parser stopped: it is not parsed again
// for each line.
func TestLineOfLargeBrokenYAML(t *testing.T) {
	text := []byte(strings.Repeat("- {a: b, c: [d]}\n", 10_000) + "- \"b\n")
	_, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		t.Fatal("it is valid")
	}
	if got := brokenYAML(text, err).Error(); got != err.Error() {
		t.Errorf("got %q", got)
	}
}

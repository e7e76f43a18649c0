package manifest_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

func TestSyntaxLine(t *testing.T) {
	long := strings.Repeat("  - {x: y}\n", 1000)
	for name, tc := range map[string]struct {
		text string
		want int
	}{
		"too little indentation":             {"route:\n  receiver: none\n group_by: [job]\nreceivers: []\n", 3},
		"in a block that began before":       {"a: b\nroute:\n  receiver: none\n  sub:\n    x: y\n    z: w\n   group_by: [job]\nreceivers: []\n", 7},
		"in an item of a list":               {"- job_name: a\n  static_configs:\n   - targets: [a]\n  scheme: http\n interval: 5s\n", 5},
		"a list in a map":                    {"x:\n  y: z\n- b\n", 3},
		"a map after a list":                 {"- a\nb: c\n", 2},
		"after many lines":                   {"x:\n" + long + " y: z\n" + long, 1002},
		"in the last line, without line end": {"a:\n    b: c\n  d: e", 3},
		"a bracket":                          {"x: y\nb: [c\ne: f\n", 2},
		"a second colon":                     {"x: y\na: b: c\n", 2},
		"a second colon in the first line":   {"a: b: c\n", 1},
		"a tab":                              {"x: y\n\ta: b\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			err := yaml.Unmarshal([]byte(tc.text), new(yaml.Node))
			if err == nil {
				t.Fatal("it is valid")
			}
			if got := manifest.SyntaxLine([]byte(tc.text), err); got != tc.want {
				t.Errorf("%q is in line %d, want %d", err, got, tc.want)
			}
		})
	}
}

package amconfig

import (
	"os"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
)

// documentWith returns a tree with value at a path of [versionRules], and one element in
// every list on the path.
func documentWith(path string, value *yaml.Node) *yaml.Node {
	step, rest, more := strings.Cut(path, ".")
	name, element := strings.CutSuffix(step, "[]")
	switch name {
	case "*":
		name = "webhook_configs"
	case "ROUTE":
		name = "route"
	}
	below := value
	if more {
		below = documentWith(rest, value)
	}
	if element {
		below = list(below)
	}
	return mapping(name, below)
}

// TestVersionRules: every path exists in Alertmanager, and every rule applies only below its version.
func TestVersionRules(t *testing.T) {
	null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	for i := range versionRules {
		r := &versionRules[i]
		for _, path := range r.paths() {
			if err := loadTree(documentWith(path, null)); err == nil || strings.Contains(err.Error(), "not found in type") {
				t.Errorf("%s: Alertmanager does not have it: %v", path, err)
			}
			if r.do != drop || r.when != nil {
				continue
			}
			below := semver.MustParse("0.15.0")
			dropped, err := r.apply(documentWith(path, scalar("x")), targetOf(below))
			if err != nil || len(dropped) != 1 || dropped[0].Need != ">= "+r.since {
				t.Errorf("%s: is not dropped below %s: %v, %v", path, r.since, dropped, err)
			}
			if dropped, err := r.apply(documentWith(path, scalar("x")), targetOf(semver.MustParse(r.since))); err != nil || len(dropped) > 0 {
				t.Errorf("%s: is dropped at %s: %v, %v", path, r.since, dropped, err)
			}
			before := semver.MustParse(r.since)
			before = semver.New(0, before.Minor()-1, 9, "", "")
			if dropped, _ := r.apply(documentWith(path, scalar("x")), targetOf(before)); len(dropped) != 1 {
				t.Errorf("%s: is kept at %s", path, before)
			}
		}
	}
}

// TestRulesForNewKeys: a document with a key of a newer release loses the key, or is rejected. Otherwise the pods get a
// file that Alertmanager refuses.
func TestRulesForNewKeys(t *testing.T) {
	text, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		first, key, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || first == "#" {
			continue
		}
		since := semver.MustParse(first)
		before := targetOf(semver.New(0, since.Minor()-1, 9, "", ""))
		for _, path := range (&versionRule{path: key}).paths() {
			leaf := path[strings.LastIndex(path, ".")+1:]
			root := documentWith(path, scalar("x"))
			var err error
			for i := range versionRules {
				if _, err = versionRules[i].apply(root, before); err != nil {
					break
				}
			}
			if left, _ := encodeNode(root); err == nil && strings.Contains(string(left), leaf+":") {
				t.Errorf("%s: is kept in %s, which does not read it", path, before.Version)
			}
		}
	}
}

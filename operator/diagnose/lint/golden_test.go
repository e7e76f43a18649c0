package lint_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// TestManifests checks the manifests of a golden file.
//
//	want/<format>  the report in that format
func TestManifests(t *testing.T) { manifestsOf(t) }

// The findings are the same if no outcome is kept, and each is made again where it is needed.
func TestOutcomesMadeAgain(t *testing.T) {
	lint.KeepAtMost(t, 0)
	manifestsOf(t)
}

func manifestsOf(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, format string) ([]byte, error) {
		names := c.Enter(t)
		setups := controllerstest.Setups(controllerstest.Options())
		objects, faults := manifests.LoadAll(names, explain.Kinds(setups))
		objects.Scope = explain.ScopeOf(setups, engine.Scopes{})
		report := lint.Check(objects, faults, lint.Options{})
		var out bytes.Buffer
		err := report.Write(&out, format)
		return out.Bytes(), err
	})
}

// TestCases checks the cases of golden files. Each input is a case of its own: what users write, below a comment that
// says what an expert answers. "want/NAME" is the report about NAME.yaml.
func TestCases(t *testing.T) {
	golden.Run(t, "testdata/cases/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		c.Enter(t)
		for _, input := range c.Inputs() {
			if !slices.Contains(c.Wants(), strings.TrimSuffix(input, ".yaml")) {
				t.Errorf("%s has no report: add an empty want/%s and run the test with -update", input, strings.TrimSuffix(input, ".yaml"))
			}
		}
		setups := controllerstest.Setups(controllerstest.Options())
		objects, faults := manifests.LoadAll([]string{name + ".yaml"}, explain.Kinds(setups))
		objects.Scope = explain.ScopeOf(setups, engine.Scopes{})
		var out bytes.Buffer
		err := lint.Check(objects, faults, lint.Options{}).Write(&out, "text")
		return out.Bytes(), err
	})
}

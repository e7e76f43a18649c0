package thanosruler

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// testedElsewhere names the test of each field that no golden file of the pods can
// show: "folder: test".
var testedElsewhere = map[string]string{
	"paused":                                           "operator/test/integration: TestPausedOwnerIsLeftAlone",
	"enforcedNamespaceLabel":                           "operator/rules: TestGolden",
	"excludedFromEnforcement":                          "operator/rules: TestGolden",
	"excludedFromEnforcement.group":                    "operator/rules: TestGolden",
	"excludedFromEnforcement.resource":                 "operator/rules: TestGolden",
	"excludedFromEnforcement.namespace":                "operator/rules: TestGolden",
	"excludedFromEnforcement.name":                     "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce":               "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleName":      "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleNamespace": "operator/rules: TestGolden",
	"ruleSelector":                                     "operator/thanosruler: TestSelectors",
	"ruleNamespaceSelector":                            "operator/thanosruler: TestSelectors",
}

// TestEveryFieldHasATest: each field of a ThanosRuler is set in a golden file of the
// pods, or is named above. Blocks of remote write are tested in package promconfig.
// With -v it prints which files set each field.
func TestEveryFieldHasATest(t *testing.T) {
	workloadtest.Coverage{
		Specs:     []reflect.Type{reflect.TypeFor[v1.ThanosRulerSpec]()},
		Kinds:     []string{"", v1.ThanosRulerKind},
		Folders:   []string{"operator/thanosruler"},
		Elsewhere: testedElsewhere,
		Blocks:    []reflect.Type{reflect.TypeFor[v1.RemoteWriteSpec]()},
	}.Check(t)
}

package thanosruler

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// testedElsewhere maps each field that no golden file of the pods can cover to its test,
// as "folder: test".
var testedElsewhere = map[string]string{
	"paused":                                           "operator/dev/integration: TestPausedOwnerIsLeftAlone",
	"enforcedNamespaceLabel":                           "operator/config/rules: TestGolden",
	"excludedFromEnforcement":                          "operator/config/rules: TestGolden",
	"excludedFromEnforcement.group":                    "operator/config/rules: TestGolden",
	"excludedFromEnforcement.resource":                 "operator/config/rules: TestGolden",
	"excludedFromEnforcement.namespace":                "operator/config/rules: TestGolden",
	"excludedFromEnforcement.name":                     "operator/config/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce":               "operator/config/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleName":      "operator/config/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleNamespace": "operator/config/rules: TestGolden",
	"ruleSelector":                                     "operator/controllers/thanosruler: TestSelectors",
	"ruleNamespaceSelector":                            "operator/controllers/thanosruler: TestSelectors",
}

// Each field of a ThanosRuler is set in a golden file of the pods or listed above. Blocks
// of remote write are tested in package promconfig. With -v, the test prints which files
// set each field.
func TestEveryFieldHasATest(t *testing.T) {
	workloadtest.Coverage{
		Specs:     []reflect.Type{reflect.TypeFor[v1.ThanosRulerSpec]()},
		Kinds:     []string{"", v1.ThanosRulerKind},
		Folders:   []string{"operator/controllers/thanosruler"},
		Elsewhere: testedElsewhere,
		Blocks:    []reflect.Type{reflect.TypeFor[v1.RemoteWriteSpec]()},
	}.Check(t)
}

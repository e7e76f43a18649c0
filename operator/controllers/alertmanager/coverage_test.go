package alertmanager

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// testedElsewhere maps each field that no golden file of the pods can cover to its test,
// as "folder: test".
var testedElsewhere = map[string]string{
	"paused":                                 "operator/dev/integration: TestPausedOwnerIsLeftAlone",
	"configSecret":                           "operator/controllers/alertmanager: TestConfigSecret",
	"alertmanagerConfigSelector":             "operator/controllers/alertmanager: TestSelectors",
	"alertmanagerConfigNamespaceSelector":    "operator/controllers/alertmanager: TestSelectors",
	"alertmanagerConfigMatcherStrategy":      "operator/controllers/alertmanager: TestMatcherStrategy",
	"alertmanagerConfigMatcherStrategy.type": "operator/controllers/alertmanager: TestMatcherStrategy",
	"alertmanagerConfiguration.name":         "operator/controllers/alertmanager: TestBaseByName",
	"alertmanagerConfiguration.global":       "operator/controllers/alertmanager: TestBaseByName",
}

// Each field of an Alertmanager is set in a golden file of the pods or listed above. The
// global section is tested in package amconfig. With -v, the test prints which files set
// each field.
func TestEveryFieldHasATest(t *testing.T) {
	workloadtest.Coverage{
		Specs:     []reflect.Type{reflect.TypeFor[v1.AlertmanagerSpec]()},
		Kinds:     []string{"", v1.AlertmanagerKind},
		Folders:   []string{"operator/controllers/alertmanager"},
		Elsewhere: testedElsewhere,
		Blocks:    []reflect.Type{reflect.TypeFor[v1.AlertmanagerGlobalConfig]()},
	}.Check(t)
}

package amconfig

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// TestEveryFieldOfReceiversHasATest: the golden files set each field of receivers and of
// the global settings. The HTTP client is the same for all kinds, and the golden files of
// webhooks cover it. With -v, the test prints which files set each field.
func TestEveryFieldOfReceiversHasATest(t *testing.T) {
	workloadtest.Coverage{
		Parts: map[string]reflect.Type{
			"receivers":                           reflect.TypeFor[v1alpha1.Receiver](),
			"receivers.webhookConfigs.httpConfig": reflect.TypeFor[v1alpha1.HTTPConfig](),
			"alertmanagerConfiguration.global":    reflect.TypeFor[v1.AlertmanagerGlobalConfig](),
		},
		Kinds:   []string{v1alpha1.AlertmanagerConfigKind, v1.AlertmanagerKind},
		Folders: []string{"operator/config/amconfig"},
		Files:   "testdata/receivers/*.txtar",
		Blocks:  []reflect.Type{reflect.TypeFor[v1alpha1.HTTPConfig]()},
	}.Check(t)
}

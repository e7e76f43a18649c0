package promworkload

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// testedElsewhere maps each field that no golden file of a workload can cover to its
// test, as "folder: test".
var testedElsewhere = map[string]string{
	"paused":                             "operator/dev/integration: TestPausedOwnerIsLeftAlone",
	"prometheusRulesExcludedFromEnforce": "operator/config/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleName":      "operator/config/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleNamespace": "operator/config/rules: TestGolden",
	"shardRetentionPolicy":                             "operator/controllers/prometheus: TestSurplusShards",
	"shardRetentionPolicy.whenScaled":                  "operator/controllers/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain":                      "operator/controllers/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain.retentionPeriod":      "operator/controllers/prometheus: TestSurplusShards",
	"allowOverlappingBlocks":                           "operator/controllers/promworkload: TestArgumentGates",
	"serviceMonitorSelector":                           "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"serviceMonitorNamespaceSelector":                  "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorSelector":                               "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorNamespaceSelector":                      "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"probeSelector":                                    "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"probeNamespaceSelector":                           "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigSelector":                             "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigNamespaceSelector":                    "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"ruleSelector":                                     "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
	"ruleNamespaceSelector":                            "operator/controllers/prometheus: TestEachSelectorIsForItsKind",
}

// Each field of a Prometheus and a PrometheusAgent is set in a golden file of the pods or
// the configuration, or listed above. With -v, the test prints which files set each
// field.
func TestEveryFieldHasATest(t *testing.T) {
	workloadtest.Coverage{
		Specs:     []reflect.Type{reflect.TypeFor[v1.PrometheusSpec](), reflect.TypeFor[v1alpha1.PrometheusAgentSpec]()},
		Kinds:     []string{"", v1.PrometheusKind, v1alpha1.PrometheusAgentKind},
		Folders:   []string{"operator/controllers/promworkload", "operator/config/promconfig"},
		Elsewhere: testedElsewhere,
	}.Check(t)
}

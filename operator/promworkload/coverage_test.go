package promworkload

import (
	"reflect"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// testedElsewhere names the test of each field that no golden file of an owner
// can show: "folder: test".
var testedElsewhere = map[string]string{
	"paused":                             "operator/test/integration: TestPausedOwnerIsLeftAlone",
	"prometheusRulesExcludedFromEnforce": "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleName":      "operator/rules: TestGolden",
	"prometheusRulesExcludedFromEnforce.ruleNamespace": "operator/rules: TestGolden",
	"shardRetentionPolicy":                             "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.whenScaled":                  "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain":                      "operator/prometheus: TestSurplusShards",
	"shardRetentionPolicy.retain.retentionPeriod":      "operator/prometheus: TestSurplusShards",
	"allowOverlappingBlocks":                           "operator/promworkload: TestArgumentGates",
	"serviceMonitorSelector":                           "operator/prometheus: TestEachSelectorIsForItsKind",
	"serviceMonitorNamespaceSelector":                  "operator/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorSelector":                               "operator/prometheus: TestEachSelectorIsForItsKind",
	"podMonitorNamespaceSelector":                      "operator/prometheus: TestEachSelectorIsForItsKind",
	"probeSelector":                                    "operator/prometheus: TestEachSelectorIsForItsKind",
	"probeNamespaceSelector":                           "operator/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigSelector":                             "operator/prometheus: TestEachSelectorIsForItsKind",
	"scrapeConfigNamespaceSelector":                    "operator/prometheus: TestEachSelectorIsForItsKind",
	"ruleSelector":                                     "operator/prometheus: TestEachSelectorIsForItsKind",
	"ruleNamespaceSelector":                            "operator/prometheus: TestEachSelectorIsForItsKind",
}

// TestEveryFieldHasATest: each field of a Prometheus and of a PrometheusAgent is
// set in a golden file of the pods or of the configuration, or is named above.
// With -v it prints which files set each field.
func TestEveryFieldHasATest(t *testing.T) {
	workloadtest.Coverage{
		Specs:     []reflect.Type{reflect.TypeFor[v1.PrometheusSpec](), reflect.TypeFor[v1alpha1.PrometheusAgentSpec]()},
		Kinds:     []string{"", v1.PrometheusKind, v1alpha1.PrometheusAgentKind},
		Folders:   []string{"operator/promworkload", "operator/promconfig"},
		Elsewhere: testedElsewhere,
	}.Check(t)
}

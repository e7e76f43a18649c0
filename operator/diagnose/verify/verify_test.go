package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/verify"
)

// cluster is a fake API server.
type cluster struct {
	without string // resource that is not served
	server  v1.Prometheus
	rule    v1.PrometheusRule
	asked   int
	change  func(*cluster) // called before each response except the first
}

func (c *cluster) live() verify.Live {
	return verify.Live{
		Resources: func(version schema.GroupVersion) (*metav1.APIResourceList, error) {
			list := &metav1.APIResourceList{}
			for _, row := range catalog.All {
				if row.GroupVersion() == version && row.Resource != c.without {
					list.APIResources = append(list.APIResources, metav1.APIResource{Name: row.Resource})
				}
			}
			return list, nil
		},
		Get: func(_ context.Context, row *catalog.Row, name types.NamespacedName, into catalog.Object) error {
			if c.asked++; c.asked > 1 && c.change != nil {
				c.change(c)
			}
			switch into := into.(type) {
			case *v1.Prometheus:
				*into = c.server
			case *v1.PrometheusRule:
				*into = c.rule
			default:
				return errors.New("no " + row.Kind + " " + name.String())
			}
			return nil
		},
	}
}

func condition(status v1.ConditionStatus, generation int64) v1.Prometheus {
	return v1.Prometheus{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status: v1.PrometheusStatus{WorkloadStatus: v1.WorkloadStatus{Conditions: []v1.Condition{
			{Type: v1.Available, Status: v1.ConditionTrue, ObservedGeneration: 2},
			{Type: v1.Reconciled, Status: status, ObservedGeneration: generation, Reason: "NoStorage", Message: "no class"},
		}}},
	}
}

func TestRun(t *testing.T) {
	checked := v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{wellknown.AnnotationValidated: "true"}}}
	for name, tc := range map[string]struct {
		cluster cluster
		failed  int
		want    string // substring of the output
	}{
		"all is well":                {cluster{server: condition(v1.ConditionTrue, 2), rule: checked}, 0, "ok    the admission webhook has checked PrometheusRule a/rule\n"},
		"a CRD is missing":           {cluster{without: "probes", server: condition(v1.ConditionTrue, 2), rule: checked}, 1, "FAIL  the API server serves all kinds of monitoring.coreos.com: probes is not served"},
		"no operator runs":           {cluster{rule: checked}, 1, "FAIL  the operator reconciles Prometheus a/server: it has no condition Reconciled"},
		"it cannot be reconciled":    {cluster{server: condition(v1.ConditionFalse, 2), rule: checked}, 1, "the condition Reconciled is False: NoStorage: no class"},
		"an older generation was":    {cluster{server: condition(v1.ConditionTrue, 1), rule: checked}, 1, "about generation 1, the object has 2"},
		"no webhook is asked":        {cluster{server: condition(v1.ConditionTrue, 2)}, 1, "FAIL  the admission webhook has checked PrometheusRule a/rule: it was stored without"},
		"neither operator nor hooks": {cluster{}, 2, "FAIL  the operator reconciles"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // try each step only once
			var out strings.Builder
			failed, err := verify.Run(ctx, verify.Steps(tc.cluster.live(), question), &out)
			if err != nil || failed != tc.failed || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%d failed (%v), want %d, and %q in\n%s", failed, err, tc.failed, tc.want, &out)
			}
		})
	}
}

var question = verify.Question{
	Row: catalog.Prometheus, Workload: types.NamespacedName{Namespace: "a", Name: "server"},
	Rule: types.NamespacedName{Namespace: "a", Name: "rule"},
}

// TestRunWaits: a step is retried until it passes.
func TestRunWaits(t *testing.T) {
	c := &cluster{change: func(c *cluster) { c.server = condition(v1.ConditionTrue, 2) }}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	q := question
	q.Rule = types.NamespacedName{}
	if failed, err := verify.Run(ctx, verify.Steps(c.live(), q), &out); failed > 0 || err != nil || c.asked < 2 {
		t.Errorf("%d failed (%v) after %d questions\n%s", failed, err, c.asked, &out)
	}
}

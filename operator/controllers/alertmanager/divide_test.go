package alertmanager

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// Small objects of one namespace, each within the limits of one object, neither fill the memory of Alertmanager with regular
// expressions, nor have it compare each alert for seconds: the namespace loses those beyond what all may have.
func TestExpensiveNamespaceLosesItsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		value       string
		times       int // in each object
		least, most int // left out of 120
		full        string
	}{
		"large": {`\pL{300}`, 1, 70, 90, "instructions of regular expressions in matchers"},
		"slow":  {`(.?){800}`, 3, 8, 30, "instructions of matchers for each character of a label"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeCluster(t)
			for i := range 120 {
				c := routed("greedy", fmt.Sprintf("c%03d", i), "r")
				c.Spec.Route.Matchers = slices.Repeat([]v1alpha1.Matcher{{Name: "a", Value: tc.value, MatchType: "=~"}}, tc.times)
				w.configs = append(w.configs, c)
			}
			good := routed("team", "good", "r")
			good.Spec.Route.Matchers = []v1alpha1.Matcher{{Name: "a", Value: "b.*", MatchType: "=~"}}
			w.configs = append(w.configs, good)
			am := alertmanager(t, "alertmanagerConfigSelector: {}\nalertmanagerConfigNamespaceSelector: {}")
			left := func(selection bool) (n int) {
				t.Helper()
				c := w.cluster()
				c.SelectionOnly = selection
				in, err := w.kind.Open(types.NamespacedName{Namespace: "demo", Name: "main"}).Gather(am, c)
				if err != nil {
					t.Fatal(err)
				}
				for v := range in.Results() {
					if v.Err == nil {
						continue
					}
					if _, is := errors.AsType[*share.LeftOutError](v.Err); !is || v.Object.GetNamespace() != "greedy" || !strings.Contains(v.Err.Error(), tc.full) {
						t.Errorf("%s/%s: %v", v.Object.GetNamespace(), v.Object.GetName(), v.Err)
					}
					n++
				}
				return n
			}
			n := left(false)
			if n < tc.least || n > tc.most {
				t.Errorf("%d are left out", n)
			}
			if others := left(true); others != n {
				t.Errorf("%d are left out, a selection says %d", n, others)
			}
			_, plan, err := w.plan(am)
			if err != nil || plan.Reason != engine.ReasonLeftOut || !strings.Contains(plan.Message, fmt.Sprintf("%d objects are left out of the namespaces greedy (%d)", n, n)) {
				t.Errorf("%s %s, %v", plan.Reason, plan.Message, err)
			}
			if config := w.config(am); !strings.Contains(config, "receiver: team/good/r") {
				t.Error("the route of another namespace is missing")
			}
		})
	}
}

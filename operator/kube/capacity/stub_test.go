package capacity

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestStub(t *testing.T) {
	long := strings.Repeat("v", 1<<20)
	o := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{
		Namespace: "a", Name: "b", UID: "u", ResourceVersion: "7", Generation: 3, Labels: map[string]string{"team": "a", "z": long[:60]},
		Annotations: map[string]string{"operator.prometheus.io/controller-id": "mine", "operator.prometheus.io/note": "-" + strings.Repeat("é", 1000), "a": long}, Finalizers: []string{"f"},
	}}
	for i := range 200 {
		o.Labels[fmt.Sprintf("x%d", i)] = long[:60]
	}
	o.Spec.Version = long
	o.Status.Conditions = []v1.Condition{{Type: "Available"}}
	c := New(1 << 10)
	got := c.Cache("Prometheus", false, nil).Enter(o).(*v1.Prometheus)
	if got.Name != "b" || got.UID != "u" || got.ResourceVersion != "7" || got.Generation != 3 || got.Labels["team"] != "a" || len(got.Finalizers) != 1 ||
		got.Spec.Version != "" || len(got.Annotations) != 2 || !utf8.ValidString(got.Annotations["operator.prometheus.io/note"]) || got.Annotations["operator.prometheus.io/controller-id"] != "mine" || len(got.Status.Conditions) != 1 {
		t.Errorf("stub: %+v", got)
	}
	if n := budget.Size(got, 1<<20); n > 64<<10 {
		t.Errorf("the stub has %d bytes", n)
	}
	err := fmt.Sprint(v1.Undecodable(got))
	for _, part := range []string{"at most 1 KiB", `namespace "a"`, "this object takes 2.0 MiB of it", "make it smaller, or delete others"} {
		if !strings.Contains(err, part) {
			t.Errorf("%s: no %q", err, part)
		}
	}
	if !IsStub(got) || IsStub(o) {
		t.Error("which is a stub?")
	}
}

// Stubs have their statuses, together up to a part of the capacity. One without it is marked, so that nothing replaces it.
func TestStatusOfStubs(t *testing.T) {
	rule := func(name string, statusBytes int) *v1.PrometheusRule {
		r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, ResourceVersion: "1"}}
		r.Spec.Groups = []v1.RuleGroup{{Name: strings.Repeat("x", 5<<20)}}
		if statusBytes > 0 {
			r.Status.Bindings = []v1.WorkloadBinding{{Name: strings.Repeat("x", statusBytes)}}
		}
		return r
	}
	c := New(4 << 20)
	cache := c.Cache("PrometheusRule", false, nil)
	enter := func(name string, statusBytes int, leftOut bool) {
		t.Helper()
		got := cache.Enter(rule(name, statusBytes)).(*v1.PrometheusRule)
		if !IsStub(got) || v1.StatusLeftOut(got) != leftOut || (len(got.Status.Bindings) > 0) != (statusBytes > 0 && !leftOut) {
			t.Errorf("%s: stub %t, without its status %t, %d bindings", name, IsStub(got), v1.StatusLeftOut(got), len(got.Status.Bindings))
		}
	}
	enter("too large", budget.StatusBytes, true)
	for i := range 3 {
		enter(fmt.Sprint("as large as the operator makes it ", i), budget.BindingsBytes, false)
	}
	enter("beyond the part", budget.BindingsBytes, true)
	enter("empty", 0, false)
	enter("as large as the operator makes it 0", 0, false)
	enter("within the part again", budget.BindingsBytes, false)
	for name := range map[string]bool{"within the part again": true, "as large as the operator makes it 1": true, "as large as the operator makes it 2": true} {
		cache.Remove(rule(name, 0))
	}
	if c.statuses != 0 {
		t.Errorf("%d bytes count although no stub has a status", c.statuses)
	}
	undecodable := rule("too large to be decoded", 0)
	undecodable.Decoding.StatusLeftOut = true
	if got := cache.Enter(undecodable); !v1.StatusLeftOut(got) {
		t.Error("a status that was not read counts as empty")
	}
}

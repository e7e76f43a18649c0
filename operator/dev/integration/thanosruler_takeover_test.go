package integration

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// create creates objects as an operator does.
func (w *environment) create(t *testing.T, manifests string) {
	t.Helper()
	all, err := objects.Parse([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if _, err := w.of(t, o).Create(t.Context(), o, metav1.CreateOptions{FieldManager: apply.FieldManager}); err != nil {
			t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// With the layout of the reference, the operator takes over its objects. No pod template changes, and nothing is
// created or deleted.
func TestRulerTakeover(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-takeover"
	ns := w.namespace(t)
	read := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return fill(string(text), ns, id)
	}
	w.apply(t, read("takeover.user.yaml"))
	uid := func(kind, name string) string {
		o, err := w.get(t, "monitoring.coreos.com/v1", kind, ns, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(o.GetUID())
	}
	written := strings.NewReplacer("OWNER", uid("ThanosRuler", "every"), "RULE", uid("PrometheusRule", "rules")).Replace(read("takeover.written.yaml"))
	w.create(t, written)
	set, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-every")
	if err != nil {
		t.Fatal(err)
	}

	flags := []string{"--controller-id=" + id, "--reloader-layout=single", "--prometheus-config-reloader=reloader:1"}
	o := w.operator(t, id, "", flags...)
	w.reports(t, thanosRuler(ns, "every"), "True")
	o.settle(t)
	now, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-every")
	if err != nil {
		t.Fatal(err)
	}
	if now.GetUID() != set.GetUID() || now.GetGeneration() != set.GetGeneration() {
		t.Errorf("the StatefulSet was changed: generation %d, was %d\n%s", now.GetGeneration(), set.GetGeneration(), cmp.Diff(set.Object["spec"], now.Object["spec"]))
	}
	if diff := cmp.Diff(set.GetLabels(), now.GetLabels()) + cmp.Diff(set.GetOwnerReferences(), now.GetOwnerReferences()); diff != "" {
		t.Error(diff)
	}
	// The input hash differs, and Secrets may be formatted differently.
	w.writesOnly(t, o, ns, 0, "update secrets thanos-ruler-every-config", "update statefulsets thanos-ruler-every", "patch thanosrulers/status every")

	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, id, flags...)
	o.settle(t)
	w.writesOnly(t, o, ns, before)
}

// writesOnly fails the test if an operator made other writes in a namespace, or one of these more than once.
func (w *environment) writesOnly(t *testing.T, o *operator, ns string, from int, allowed ...string) {
	t.Helper()
	var seen []string
	for _, c := range w.audit.calls(t, o.user)[from:] {
		if !c.writes() || c.Object.Namespace != ns || c.Object.Resource == "events" || strings.Contains(c.URI, "dryRun") {
			continue
		}
		if !slices.Contains(allowed, c.what()) || slices.Contains(seen, c.what()) && c.Object.Subresource == "" {
			t.Errorf("call %s, after %q", c.what(), seen)
		}
		seen = append(seen, c.what())
	}
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A field that cannot change makes a StatefulSet anew, once.
func TestImmutableFieldRecreates(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "recreate", "", "--controller-id=recreate")
	ns := w.deployed(t, o, "recreate")
	before, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
	if err != nil {
		t.Fatal(err)
	}
	calls := o.during(t, func() {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podManagementPolicy":"OrderedReady"}}`)
		w.waitFor(t, before, "is made again", func(now *unstructured.Unstructured) error {
			if policy, _, _ := unstructured.NestedString(now.Object, "spec", "podManagementPolicy"); now.GetUID() == before.GetUID() || policy != "OrderedReady" {
				return fmt.Errorf("policy %s, same object %v", policy, now.GetUID() == before.GetUID())
			}
			return nil
		})
	})
	count := map[string]int{}
	for _, c := range calls {
		if c.Object.Resource == "statefulsets" {
			count[c.Verb]++
		}
	}
	// One update is refused, one follows the creation; each conflict costs a get and one more.
	if count["delete"] != 1 || count["create"] != 1 || count["update"] > 2+count["get"] {
		t.Errorf("calls %v", count)
	}
	if v, err := o.metric("prometheus_operator_reconcile_sts_delete_create_total"); err != nil || v != 1 {
		t.Errorf("recreated %v, %v", v, err)
	}
}

func TestPausedOwnerIsLeftAlone(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "paused", "", "--controller-id=paused")
	ns := w.deployed(t, o, "paused")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"paused":true}}`)
	w.waitFor(t, owner(ns, "web"), "says that it is paused", func(o *unstructured.Unstructured) error {
		if paused, _, _ := unstructured.NestedBool(o.Object, "status", "paused"); !paused {
			return fmt.Errorf("it does not")
		}
		return nil
	})
	o.settle(t)
	calls := o.during(t, func() {
		w.delete(t, "v1", "Secret", ns, "prometheus-web")
		w.apply(t, podMonitor(ns, "more", "x"))
		w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`)
	})
	for _, c := range calls {
		if c.writes() && c.resource() != "prometheuses/status" {
			t.Errorf("a call for a paused object: %s", c.what())
		}
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"paused":false}}`)
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/more/0")
	w.reconciled(t, ns, "web", "True")
}

func TestGoverningServiceIsShared(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "shared-service", "", "--controller-id=shared-service")
	ns := w.deployed(t, o, "shared-service")
	w.apply(t, strings.Replace(strings.Split(fill(web, ns, "shared-service"), "\n---\n")[0], "name: web", "name: other", 1))
	w.reconciled(t, ns, "other", "True")
	o.settle(t)
	owners := func() map[string]bool {
		s, err := w.kube.CoreV1().Services(ns).Get(t.Context(), "prometheus-operated", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, r := range s.OwnerReferences {
			out[r.Name] = r.Controller == nil && r.BlockOwnerDeletion == nil
		}
		return out
	}
	if got := owners(); len(got) != 2 || !got["web"] || !got["other"] {
		t.Errorf("owners %v", got)
	}
	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "other")
	eventually(t, "the StatefulSet of the deleted one is gone", func() error {
		if _, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-other"); err == nil {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	o.settle(t)
	if got := owners(); !got["web"] {
		t.Errorf("owners %v", got)
	}
}

func TestShards(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "shards", "", "--controller-id=shards")
	ns := w.deployed(t, o, "shards")
	names := func() string {
		var out []string
		for _, s := range w.list(t, "apps/v1", "StatefulSet", ns) {
			out = append(out, s.GetName())
		}
		return strings.Join(out, " ")
	}
	want := func(text string) {
		t.Helper()
		eventually(t, "StatefulSets "+text, func() error {
			if got := names(); got != text {
				return fmt.Errorf("they are %s", got)
			}
			return nil
		})
		o.settle(t)
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":3}}`)
	want("prometheus-web prometheus-web-shard-1 prometheus-web-shard-2")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":2,"shardRetentionPolicy":{"whenScaled":"Retain"}}}`)
	w.reconciled(t, ns, "web", "True")
	want("prometheus-web prometheus-web-shard-1 prometheus-web-shard-2")
	kept, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web-shard-2")
	if err != nil || kept.GetAnnotations()["operator.prometheus.io/deletion-deadline"] == "" {
		t.Errorf("annotations of the retained shard: %v, %v", kept.GetAnnotations(), err)
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":3}}`)
	w.waitFor(t, kept, "has no deadline any more", func(o *unstructured.Unstructured) error {
		if text := o.GetAnnotations()["operator.prometheus.io/deletion-deadline"]; text != "" {
			return fmt.Errorf("it is %s", text)
		}
		return nil
	})
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":1,"shardRetentionPolicy":null}}`)
	want("prometheus-web")
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A change of an immutable field recreates the StatefulSet once and keeps its pod.
func TestImmutableFieldRecreates(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "recreate", "", "--controller-id=recreate")
	ns := w.deployed(t, o, "recreate")
	before, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
	if err != nil {
		t.Fatal(err)
	}
	pod := w.pod(t, ns, "prometheus-web-0")
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
		if c.Object.Resource == "statefulsets" && !strings.Contains(c.URI, "dryRun") {
			count[c.Verb]++
		}
	}
	// One update is rejected and one follows the creation. Each conflict costs a get and another update.
	if count["delete"] != 1 || count["create"] != 1 || count["update"] > 2+count["get"] {
		t.Errorf("calls %v", count)
	}
	if v, err := o.metric("prometheus_operator_reconcile_sts_delete_create_total"); err != nil || v != 1 {
		t.Errorf("recreated %v, %v", v, err)
	}
	w.adopted(t, ns, pod)

	// After a stop between the deletion and the creation, the next operator completes the recreation.
	o.stop(t)
	orphan := metav1.DeletePropagationOrphan
	if err := w.kube.AppsV1().StatefulSets(ns).Delete(t.Context(), "prometheus-web", metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	o = w.run(t, "recreate", "--controller-id=recreate")
	w.adopted(t, ns, pod)

	t.Run("not when a new one would be refused too", func(t *testing.T) {
		o.settle(t)
		before, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
		if err != nil {
			t.Fatal(err)
		}
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podManagementPolicy":"Parallel",
			"serviceMonitorSelector":{"matchLabels":{"none":"such"}},"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}}`)
		w.reconciled(t, ns, "web", "False", "ReconciliationFailed")
		w.jobs(t, ns, "web") // the configuration is still written
		if now, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web"); err != nil || now.GetUID() != before.GetUID() || now.GetDeletionTimestamp() != nil {
			t.Errorf("the StatefulSet is another one or going: %v", err)
		}
		if v, err := o.metric("prometheus_operator_reconcile_sts_delete_create_total"); err != nil || v != 0 {
			t.Errorf("recreated %v, %v", v, err)
		}
		w.adopted(t, ns, pod)
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"resources":null}}`)
		w.reconciled(t, ns, "web", "True")
		w.adopted(t, ns, pod)
	})
}

// pod waits for a pod.
func (w *environment) pod(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	var out *corev1.Pod
	eventually(t, "pod "+name+" exists", func() (err error) {
		out, err = w.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
	return out
}

// adopted waits until the current StatefulSet, which is up to date, owns a pod, and expects the same pod with the same
// revision.
func (w *environment) adopted(t *testing.T, namespace string, before *corev1.Pod) {
	t.Helper()
	name := before.Name[:strings.LastIndexByte(before.Name, '-')]
	var now *corev1.Pod
	eventually(t, "pod "+before.Name+" is adopted", func() error {
		sts, err := w.kube.AppsV1().StatefulSets(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if sts.DeletionTimestamp != nil || sts.Status.ObservedGeneration != sts.Generation || sts.Status.UpdatedReplicas != 1 {
			return fmt.Errorf("generation %d, status %+v", sts.Generation, sts.Status)
		}
		if now, err = w.kube.CoreV1().Pods(namespace).Get(t.Context(), before.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !metav1.IsControlledBy(now, sts) {
			return fmt.Errorf("owners %v", now.OwnerReferences)
		}
		return nil
	})
	revision := appsv1.ControllerRevisionHashLabelKey
	if now.UID != before.UID || now.DeletionTimestamp != nil || now.Labels[revision] != before.Labels[revision] {
		t.Errorf("the pod was replaced: %s %s, was %s %s", now.UID, now.Labels[revision], before.UID, before.Labels[revision])
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

// A quota that is used up by the StatefulSet itself does not prevent a recreation.
func TestRecreateUnderAFullQuota(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "quota"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.deployed(t, o, id)
	pod := w.podOf(t, ns, "prometheus-web")
	w.apply(t, fill("{apiVersion: v1, kind: ResourceQuota, metadata: {name: sets, namespace: NAMESPACE}, spec: {hard: {count/statefulsets.apps: 1}}}", ns, ""))
	quota := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"namespace": ns, "name": "sets"}}}
	w.waitFor(t, quota, "is full", func(q *unstructured.Unstructured) error {
		if used, _, _ := unstructured.NestedString(q.Object, "status", "used", "count/statefulsets.apps"); used != "1" {
			return fmt.Errorf("used %q", used)
		}
		return nil
	})
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podManagementPolicy":"OrderedReady"}}`)
	w.waitFor(t, stateful(ns, "prometheus-web"), "is recreated", func(s *unstructured.Unstructured) error {
		if policy, _, _ := unstructured.NestedString(s.Object, "spec", "podManagementPolicy"); policy != "OrderedReady" {
			return fmt.Errorf("policy %s", policy)
		}
		return nil
	})
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
	w.reconciled(t, ns, "web", "True")
}

// A new StatefulSet is written once, also when another operator sees it.
func TestNewStatefulSetIsWrittenOnce(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "once"
	o := w.operator(t, id, "", "--controller-id="+id)
	var ns string
	writes := func(calls []call) (out []string) {
		for _, c := range calls {
			if c.writes() && c.Object.Resource == "statefulsets" && c.Object.Namespace == ns {
				out = append(out, c.Verb)
			}
		}
		return out
	}
	calls := o.during(t, func() { ns = w.deployed(t, o, id) })
	if got := writes(calls); len(got) != 1 {
		t.Errorf("writes %q, want one create", got)
	}
	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, id, "--controller-id="+id)
	o.settle(t)
	if got := writes(w.audit.calls(t, o.user)[before:]); len(got) > 0 {
		t.Errorf("after a restart: %q", got)
	}
	// Manual edits are still undone.
	w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"spec":{"template":{"spec":{"priority":0,"hostNetwork":true}},"minReadySeconds":9}}`)
	w.waitFor(t, stateful(ns, "prometheus-web"), "is as it was", func(s *unstructured.Unstructured) error {
		if seconds, _, _ := unstructured.NestedInt64(s.Object, "spec", "minReadySeconds"); seconds != 0 {
			return fmt.Errorf("minReadySeconds %d", seconds)
		}
		return nil
	})
}

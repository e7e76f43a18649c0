package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// claimed returns web with claims that are deleted with their StatefulSet.
func claimed(namespace, id string, more ...string) string {
	return strings.Replace(fill(web, namespace, id), "  replicas: 1", "  replicas: 2\n"+
		"  storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}\n"+
		"  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n"+strings.Join(more, ""), 1)
}

const governing = `
apiVersion: v1
kind: Service
metadata: {name: mine, namespace: NAMESPACE}
spec: {clusterIP: None, selector: {app.kubernetes.io/instance: web}}
`

// ownedClaim waits until the current StatefulSet owns a claim.
func (w *environment) ownedClaim(t *testing.T, namespace, name, set string) types.UID {
	t.Helper()
	var uid types.UID
	w.waitFor(t, stateful(namespace, set), "owns "+name, func(s *unstructured.Unstructured) error {
		c, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, o := range c.OwnerReferences {
			if uid = c.UID; o.UID == s.GetUID() {
				return nil
			}
		}
		return fmt.Errorf("owners %v", c.OwnerReferences)
	})
	return uid
}

// becomesReady waits for a new pod and sets it to ready, like a kubelet.
func (w *environment) becomesReady(t *testing.T, namespace, name string, before types.UID) types.UID {
	t.Helper()
	var uid types.UID
	eventually(t, name+" is a new one", func() error {
		p, err := w.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if p.UID == before {
			return fmt.Errorf("it is the old one")
		}
		uid = p.UID
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err = w.kube.CoreV1().Pods(namespace).UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
		return err
	})
	return uid
}

// untouched fails the test unless a pod exists and is not terminating.
func (w *environment) untouched(t *testing.T, namespace, name string, uid types.UID) {
	t.Helper()
	p := w.pod(t, namespace, name)
	if p.UID != uid || p.DeletionTimestamp != nil {
		t.Errorf("pod %s is another one: %t, or is being deleted at %v", name, p.UID != uid, p.DeletionTimestamp)
	}
}

// Claims that Kubernetes deletes with their StatefulSet survive every recreation of it, and pods that cannot be kept
// are replaced one at a time.
func TestClaimsOutliveTheirStatefulSet(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "claims"
	ns := w.namespace(t)
	o := w.operator(t, id, "", "--controller-id="+id, "--namespaces="+ns)
	w.apply(t, claimed(ns, id))
	w.apply(t, fill(governing, ns, id))
	const set, db = "prometheus-web", "prometheus-web-db-prometheus-web-"
	claims := [2]types.UID{w.ownedClaim(t, ns, db+"0", set), w.ownedClaim(t, ns, db+"1", set)}
	pods := [2]types.UID{w.becomesReady(t, ns, set+"-0", ""), w.becomesReady(t, ns, set+"-1", "")}
	same := func() {
		t.Helper()
		for i, before := range claims {
			if now := w.ownedClaim(t, ns, fmt.Sprint(db, i), set); now != before {
				t.Errorf("claim %d is another one", i)
			}
		}
	}
	// rolled expects the pods to be replaced in this order, each after the previous one is ready.
	rolled := func(first, second int) {
		t.Helper()
		now := w.becomesReadyLater(t, o, ns, fmt.Sprint(set, "-", first), pods[first], func() {
			w.untouched(t, ns, fmt.Sprint(set, "-", second), pods[second])
		})
		pods[first], pods[second] = now, w.becomesReady(t, ns, fmt.Sprint(set, "-", second), pods[second])
		same()
	}

	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"serviceName":"mine"}}`)
	rolled(0, 1)
	for i := range 2 {
		if p := w.pod(t, ns, fmt.Sprint(set, "-", i)); p.Spec.Subdomain != "mine" {
			t.Errorf("pod %d has the service name %q", i, p.Spec.Subdomain)
		}
	}

	// With a changed selector, the pods are relabeled and the rolling update starts with the highest ordinal. It does
	// not matter that the previous operator stopped after a recreation.
	o.settle(t)
	o.stop(t)
	w.orphan(t, ns, set)
	o = w.run(t, id, "--controller-id="+id, "--labels=team=a")
	rolled(1, 0)

	// With a changed claim template, the previous claims are kept without an owner.
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"storage":{"volumeClaimTemplate":{"metadata":{"name":"more"}}}}}`)
	now := w.becomesReadyLater(t, o, ns, set+"-0", pods[0], func() { w.untouched(t, ns, set+"-1", pods[1]) })
	pods[0], pods[1] = now, w.becomesReady(t, ns, set+"-1", pods[1])
	for i, before := range claims {
		c, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), fmt.Sprint(db, i), metav1.GetOptions{})
		if err != nil || c.UID != before || c.DeletionTimestamp != nil {
			t.Errorf("claim %d: %v", i, err)
		}
	}

	// Only the deletion of the Prometheus deletes claims.
	w.ownedClaim(t, ns, "more-prometheus-web-0", set)
	w.ownedClaim(t, ns, "more-prometheus-web-1", set)
	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
	for i := range 2 {
		w.claimGone(t, ns, fmt.Sprint("more-prometheus-web-", i))
	}
}

// Pods are replaced one at a time even though the StatefulSet controller stops at the first pod that it cannot update.
func TestPodsAreReplacedInTurn(t *testing.T) {
	w := start(t)
	t.Parallel()
	const set = "prometheus-web"
	for name, tc := range map[string]struct {
		more   string // additional fields of the spec
		role   func(t *testing.T) string
		change string // patch of the object
		flags  []string
	}{
		"ordered":            {"  podManagementPolicy: OrderedReady\n", nil, `{"spec":{"storage":{"volumeClaimTemplate":{"metadata":{"name":"more"}}}}}`, nil},
		"restricted-relabel": {"", func(t *testing.T) string { return w.withoutPatchingPods(t, "integration-no-relabel") }, "", []string{"--labels=team=a"}},
	} {
		t.Run(name, func(t *testing.T) {
			role := ""
			if tc.role != nil {
				role = tc.role(t)
			}
			o := w.operator(t, name, role, "--controller-id="+name)
			ns := w.namespace(t)
			w.apply(t, claimed(ns, name, tc.more))
			var pods [2]types.UID
			for i := range pods {
				pods[i] = w.becomesReady(t, ns, fmt.Sprint(set, "-", i), "")
			}
			o.settle(t)
			if tc.change != "" {
				w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", tc.change)
			}
			if tc.flags != nil {
				o.stop(t)
				o = w.run(t, name, append(tc.flags, "--controller-id="+name)...)
			}
			now := w.becomesReadyLater(t, o, ns, set+"-0", pods[0], func() { w.untouched(t, ns, set+"-1", pods[1]) })
			w.becomesReady(t, ns, set+"-1", pods[1])
			o.settle(t)
			w.untouched(t, ns, set+"-0", now)
		})
	}
}

// becomesReadyLater is like becomesReady but calls look first.
func (w *environment) becomesReadyLater(t *testing.T, o *operator, namespace, name string, before types.UID, look func()) types.UID {
	t.Helper()
	eventually(t, name+" is replaced", func() error {
		p, err := w.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && p.UID == before {
			return fmt.Errorf("it is the old one")
		}
		return err
	})
	o.settle(t)
	look()
	return w.becomesReady(t, namespace, name, before)
}

// claimGone waits until a claim is deleted, or is terminating because of its pods.
func (w *environment) claimGone(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, "claim "+name+" is deleted", func() error {
		c, err := w.kube.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && c.DeletionTimestamp != nil {
			return nil
		}
		return fmt.Errorf("it is there, %v", err)
	})
}

// A surplus shard is deleted with its pods but without its claims.
func TestSurplusShardLeavesItsClaims(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "surplus-claims"
	ns := w.namespace(t)
	o := w.operator(t, id, "", "--controller-id="+id, "--namespaces="+ns)
	w.apply(t, claimed(ns, id, "  shards: 2\n"))
	const set, claim = "prometheus-web-shard-1", "prometheus-web-db-prometheus-web-shard-1-0"
	before := w.ownedClaim(t, ns, claim, set)
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":1}}`)
	w.podsGone(t, ns, set)
	o.settle(t)
	c, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil || c.UID != before || c.DeletionTimestamp != nil || len(c.OwnerReferences) > 0 {
		t.Errorf("claim: %v, %v", c.ObjectMeta, err)
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"shards":2}}`)
	if after := w.ownedClaim(t, ns, claim, set); after != before {
		t.Error("the shard came back with another claim")
	}
}

// An agent whose mode changes keeps the claims of its shards.
func TestAgentOfAnotherModeLeavesItsClaims(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "mode-claims"
	ns := w.namespace(t)
	o := w.operator(t, id, "", "--controller-id="+id, "--namespaces="+ns, "--feature-gates=PrometheusAgentDaemonSet=true")
	w.apply(t, fill(edge, ns, id)+"  storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}\n"+
		"  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n")
	const set, claim = "prom-agent-web", "prom-agent-web-db-prom-agent-web-0"
	before := w.ownedClaim(t, ns, claim, set)
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web",
		`{"spec":{"mode":"DaemonSet","serviceMonitorSelector":null,"storage":null,"persistentVolumeClaimRetentionPolicy":null}}`)
	w.podsGone(t, ns, set)
	o.settle(t)
	c, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil || c.UID != before || c.DeletionTimestamp != nil {
		t.Errorf("claim: %v, %v", c.ObjectMeta, err)
	}
}

// podsGone waits until a StatefulSet and its pods are deleted.
func (w *environment) podsGone(t *testing.T, namespace, set string) {
	t.Helper()
	eventually(t, set+" is gone", func() error {
		if _, err := w.kube.AppsV1().StatefulSets(namespace).Get(t.Context(), set, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the StatefulSet is there, %v", err)
		}
		all, err := w.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, p := range all.Items {
			if strings.HasPrefix(p.Labels[appsv1.StatefulSetPodNameLabel], set+"-") {
				return fmt.Errorf("pod %s is there, owned by %v", p.Name, p.OwnerReferences)
			}
		}
		return nil
	})
}

// If an operator stops between the deletion and the creation of a StatefulSet, and the Prometheus is deleted in the
// meantime, the orphaned pods are deleted.
func TestPodsOfAWorkloadThatIsGone(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "abandoned"
	ns := w.namespace(t)
	o := w.operator(t, id, "", "--controller-id="+id, "--namespaces="+ns)
	w.apply(t, claimed(ns, id))
	const set, claim = "prometheus-web", "prometheus-web-db-prometheus-web-0"
	before := w.ownedClaim(t, ns, claim, set)
	pod := w.podOf(t, ns, set)
	o.settle(t)
	o.stop(t)
	w.orphan(t, ns, set)

	// An operator with another ID does not touch them.
	other := w.operator(t, "not-"+id, "", "--controller-id=not-"+id)
	other.settle(t)
	w.untouched(t, ns, set+"-0", pod.GetUID())

	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
	o = w.run(t, id, "--controller-id="+id)
	w.podsGone(t, ns, set)
	c, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil || c.UID != before || c.DeletionTimestamp != nil {
		t.Errorf("claim: %v, %v", c.ObjectMeta, err)
	}

	// The same while an operator is running that may not create the StatefulSet.
	w.apply(t, claimed(ns, id))
	pod = w.podOf(t, ns, set)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"paused":true}}`)
	o.settle(t)
	w.orphan(t, ns, set)
	o.settle(t)
	w.untouched(t, ns, set+"-0", pod.GetUID())
	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
	w.podsGone(t, ns, set)
}

// orphan deletes a StatefulSet without its pods, as the operator does.
func (w *environment) orphan(t *testing.T, namespace, set string) {
	t.Helper()
	orphan := metav1.DeletePropagationOrphan
	if err := w.kube.AppsV1().StatefulSets(namespace).Delete(t.Context(), set, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	eventually(t, set+" is orphaned", func() error {
		_, err := w.kube.AppsV1().StatefulSets(namespace).Get(context.Background(), set, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there, %v", err)
		}
		return nil
	})
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rulerNamed returns ruler with another name and additional lines of its spec.
func rulerNamed(namespace, name, id, more string) string {
	return strings.Replace(fill(ruler, namespace, id), "  name: web", "  name: "+name, 1) + more
}

// ThanosRulers that need different ports share one Service; one is deleted and one gets its own Service.
func TestRulersShareTheirService(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-service"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.namespace(t)
	is := func(want string) {
		t.Helper()
		eventually(t, "the Service is "+want, func() error {
			if got, err := w.shared(t, ns, "thanos-ruler-operated"); err != nil || got != want {
				return fmt.Errorf("it is %s, %v", got, err)
			}
			return nil
		})
		o.settle(t)
	}
	w.apply(t, rulerNamed(ns, "first", id, ""))
	is("web grpc; first")
	w.apply(t, rulerNamed(ns, "second", id, ""))
	is("web grpc; first second")
	w.apply(t, rulerNamed(ns, "named", id, "  portName: http\n"))
	w.reports(t, thanosRuler(ns, "named"), "True")
	is("web grpc; first second named")
	if !strings.Contains(o.log.String(), `port \"http\" (10902) is not in Service \"thanos-ruler-operated\"`) {
		t.Error("nobody is told that a port is missing")
	}
	// A Prometheus uses another Service.
	w.apply(t, prometheusOnly(ns, "first", id, ""))
	w.reconciled(t, ns, "first", "True")
	is("web grpc; first second named")

	w.delete(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "second")
	is("web grpc; first named")

	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "first", `{"spec":{"serviceName":"mine"}}`)
	w.waitFor(t, thanosRuler(ns, "first"), "lacks its Service", func(o *unstructured.Unstructured) error {
		if text := fmt.Sprint(o.Object["status"]); !strings.Contains(text, `spec.serviceName: services "mine" not found`) {
			return fmt.Errorf("status %s", text)
		}
		return nil
	})
	w.apply(t, fill("apiVersion: v1\nkind: Service\nmetadata: {name: mine, namespace: NAMESPACE}\nspec: {clusterIP: None, selector: {thanos-ruler: first}, ports: [{port: 10902}]}\n", ns, ""))
	w.reports(t, thanosRuler(ns, "first"), "True")
	is("http grpc; named")
	set, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "thanos-ruler-first", metav1.GetOptions{})
	if err != nil || set.Spec.ServiceName != "mine" {
		t.Errorf("service name %q, %v", set.Spec.ServiceName, err)
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "named", `{"spec":{"serviceName":"mine"}}`)
	w.waitFor(t, thanosRuler(ns, "named"), "has the wrong Service", func(o *unstructured.Unstructured) error {
		if text := fmt.Sprint(o.Object["status"]); !strings.Contains(text, "does not match the pods' labels") {
			return fmt.Errorf("status %s", text)
		}
		return nil
	})
}

// rulerClaiming applies a ThanosRuler with storage of its own class, and waits until its claim is bound.
func (w *environment) rulerClaiming(t *testing.T, id string) (namespace string, claim *unstructured.Unstructured) {
	t.Helper()
	namespace = w.namespace(t)
	w.apply(t, fill(storage, namespace, "true"))
	t.Cleanup(func() { w.dropStorage(t, namespace) })
	w.apply(t, rulerNamed(namespace, "web", id, "  storage: {volumeClaimTemplate: {spec: {storageClassName: "+namespace+", resources: {requests: {storage: 2Gi}}}}}\n"))
	claim = claimNamed(namespace, "thanos-ruler-web-data-thanos-ruler-web-0")
	w.waitFor(t, claim, "is bound", func(c *unstructured.Unstructured) error {
		if phase, _, _ := unstructured.NestedString(c.Object, "status", "phase"); phase != string(corev1.ClaimBound) {
			return fmt.Errorf("phase %s", phase)
		}
		return nil
	})
	return namespace, claim
}

// The claim of a ThanosRuler is expanded without a new pod, and survives a recreation of the StatefulSet.
func TestRulerStorage(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-storage"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns, claim := w.rulerClaiming(t, id)
	set := stateful(ns, "thanos-ruler-web")
	pod := w.becomesReady(t, ns, "thanos-ruler-web-0", "")
	o.settle(t)
	size := func(size string) {
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", fmt.Sprintf(`{"spec":{"storage":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":%q}}}}}}}`, size))
	}
	size("3Gi")
	for _, object := range []*unstructured.Unstructured{claim, set} {
		w.waitFor(t, object, "asks for more", func(now *unstructured.Unstructured) error { return asksFor(now, "3Gi") })
	}
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.untouched(t, ns, "thanos-ruler-web-0", pod)
	o.settle(t)
	size("1Gi")
	tr := w.reports(t, thanosRuler(ns, "web"), "True", "StorageCannotShrink")
	if text := fmt.Sprint(tr.Object["status"]); !strings.Contains(text, "thanos-ruler-web-data-thanos-ruler-web-0 (3Gi)") {
		t.Errorf("status %s", text)
	}
	size("3Gi")
	w.reports(t, thanosRuler(ns, "web"), "True")
	o.settle(t)

	before, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), claim.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, fill(governing, ns, id))
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"serviceName":"mine"}}`)
	w.becomesReady(t, ns, "thanos-ruler-web-0", pod)
	eventually(t, "the pod has the service name", func() error {
		if p := w.pod(t, ns, "thanos-ruler-web-0"); p.Spec.Subdomain != "mine" {
			return fmt.Errorf("%q", p.Spec.Subdomain)
		}
		return nil
	})
	o.settle(t)
	after, err := w.kube.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), claim.GetName(), metav1.GetOptions{})
	if err != nil || after.UID != before.UID || after.DeletionTimestamp != nil {
		t.Errorf("the claim is another one or going: %v", err)
	}
}

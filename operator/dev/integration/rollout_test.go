package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podOf waits until the first pod of a StatefulSet exists and is owned by it.
func (w *environment) podOf(t *testing.T, namespace, set string) (pod *unstructured.Unstructured) {
	t.Helper()
	w.waitFor(t, stateful(namespace, set), "has its pod", func(s *unstructured.Unstructured) error {
		var err error
		if pod, err = w.get(t, "v1", "Pod", namespace, set+"-0"); err != nil {
			return err
		}
		for _, o := range pod.GetOwnerReferences() {
			if o.UID == s.GetUID() {
				return nil
			}
		}
		return errors.New("the pod is an orphan")
	})
	return pod
}

// image returns the image of a container of a StatefulSet.
func image(set *unstructured.Unstructured, container string) string {
	for _, list := range []string{"initContainers", "containers"} {
		all, _, _ := unstructured.NestedSlice(set.Object, "spec", "template", "spec", list)
		for _, c := range all {
			if c := c.(map[string]any); c["name"] == container {
				return fmt.Sprint(c["image"])
			}
		}
	}
	return ""
}

// A StatefulSet is recreated without its pods if they match the new one.
func TestPodsOutliveTheirStatefulSet(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "orphans", "", "--controller-id=orphans")
	ns := w.deployed(t, o, "orphans")
	w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web",
		`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)
	o.settle(t)
	pod, set := w.podOf(t, ns, "prometheus-web"), stateful(ns, "prometheus-web")
	before, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
	if err != nil {
		t.Fatal(err)
	}
	revision := func(s *unstructured.Unstructured) string {
		r, _, _ := unstructured.NestedString(s.Object, "status", "updateRevision")
		return r
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podManagementPolicy":"OrderedReady"}}`)
	w.waitFor(t, set, "is made again", func(now *unstructured.Unstructured) error {
		if now.GetUID() == before.GetUID() || revision(now) != revision(before) {
			return fmt.Errorf("revision %q, before %q; same object %t", revision(now), revision(before), now.GetUID() == before.GetUID())
		}
		return nil
	})
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
}

// A StatefulSet whose replacement the API server would reject is not deleted.
func TestInvalidChangeDeletesNothing(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "invalid", "", "--controller-id=invalid")
	ns := w.deployed(t, o, "invalid")
	pod := w.podOf(t, ns, "prometheus-web")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web",
		`{"spec":{"podManagementPolicy":"OrderedReady","volumeMounts":[{"name":"nowhere","mountPath":"/x"}],"retention":"9d"}}`)
	w.fails(t, ns, `volumeMounts`)
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
	if text, err := w.configuration(t, ns, "prometheus-web"); err != nil || !strings.Contains(text, "9d") {
		t.Errorf("the configuration was not written: %v", err)
	}
}

const storage = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAMESPACE}
provisioner: kubernetes.io/no-provisioner
allowVolumeExpansion: ID
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: NAMESPACE}
spec:
  storageClassName: NAMESPACE
  capacity: {storage: 9Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /nowhere}
`

// claiming applies web with storage of a class, and waits until its claim is bound.
func (w *environment) claiming(t *testing.T, id string, expandable bool) (namespace string, claim *unstructured.Unstructured) {
	t.Helper()
	namespace = w.namespace(t)
	w.apply(t, fill(storage, namespace, fmt.Sprint(expandable)))
	t.Cleanup(func() { w.dropStorage(t, namespace) })
	w.apply(t, strings.Replace(fill(web, namespace, id), "replicas: 1", "replicas: 1\n  storage: {volumeClaimTemplate: {spec: {storageClassName: "+namespace+", resources: {requests: {storage: 2Gi}}}}}", 1))
	claim = claimNamed(namespace, "prometheus-web-db-prometheus-web-0")
	w.waitFor(t, claim, "is bound", func(c *unstructured.Unstructured) error {
		if phase, _, _ := unstructured.NestedString(c.Object, "status", "phase"); phase != "Bound" {
			return fmt.Errorf("phase %s", phase)
		}
		return nil
	})
	return namespace, claim
}

func claimNamed(namespace, name string) *unstructured.Unstructured {
	o := clusterWide("v1", "PersistentVolumeClaim", name)
	o.SetNamespace(namespace)
	return o
}

// dropStorage deletes the cluster-scoped storage objects.
func (w *environment) dropStorage(t *testing.T, name string) {
	for _, o := range []*unstructured.Unstructured{clusterWide("v1", "PersistentVolume", name), clusterWide("storage.k8s.io/v1", "StorageClass", name)} {
		if err := w.of(t, o).Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}

func clusterWide(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// asksFor returns an error unless a claim, or the claim template of a StatefulSet, requests a size.
func asksFor(o *unstructured.Unstructured, size string) error {
	spec := o.Object["spec"].(map[string]any)
	if templates, _, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates"); len(templates) > 0 {
		spec = templates[0].(map[string]any)["spec"].(map[string]any)
	}
	if has, _, _ := unstructured.NestedString(spec, "resources", "requests", "storage"); has != size {
		return fmt.Errorf("asks for %q", has)
	}
	return nil
}

const grow = `{"spec":{"retention":"9d","storage":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"%s"}}}}}}}`

func TestStorageGrows(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "grow", "", "--controller-id=grow")
	ns, claim := w.claiming(t, "grow", true)
	pod := w.podOf(t, ns, "prometheus-web")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", fmt.Sprintf(grow, "3Gi"))
	for _, object := range []*unstructured.Unstructured{claim, stateful(ns, "prometheus-web")} {
		w.waitFor(t, object, "asks for more", func(now *unstructured.Unstructured) error { return asksFor(now, "3Gi") })
	}
	w.reconciled(t, ns, "web", "True")
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
	// A smaller size applies only to new claims, and the status reports it.
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", fmt.Sprintf(grow, "1Gi"))
	w.waitFor(t, stateful(ns, "prometheus-web"), "asks for less", func(now *unstructured.Unstructured) error { return asksFor(now, "1Gi") })
	now := w.reconciled(t, ns, "web", "True", "StorageCannotShrink")
	if text := fmt.Sprint(now.Object["status"]); !strings.Contains(text, "larger than 1Gi and stay, because volumes cannot shrink: prometheus-web-db-prometheus-web-0 (3Gi)") {
		t.Errorf("status %s", text)
	}
	o.settle(t)
	w.waitFor(t, claim, "stays", func(now *unstructured.Unstructured) error { return asksFor(now, "3Gi") })
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
	// Deleting the claim and then the pod results in a smaller claim.
	w.delete(t, "v1", "PersistentVolumeClaim", ns, claim.GetName())
	w.delete(t, "v1", "Pod", ns, "prometheus-web-0")
	w.waitFor(t, claim, "is a smaller one", func(now *unstructured.Unstructured) error { return asksFor(now, "1Gi") })
	w.saysNothing(t, ns)
}

// The API server does not resize a claim that was never bound, and a size that no volume ever had can be reverted.
func TestStorageOfPendingClaims(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "pending", "", "--controller-id=pending")
	ns := w.namespace(t)
	w.apply(t, fill(storage, ns, "true"))
	t.Cleanup(func() { w.dropStorage(t, ns) })
	w.apply(t, strings.Replace(fill(web, ns, "pending"), "replicas: 1", "replicas: 1\n  storage: {volumeClaimTemplate: {spec: {storageClassName: "+ns+", resources: {requests: {storage: 10Ti}}}}}", 1))
	set, claim := stateful(ns, "prometheus-web"), claimNamed(ns, "prometheus-web-db-prometheus-web-0")
	w.waitFor(t, claim, "is there", func(now *unstructured.Unstructured) error { return asksFor(now, "10Ti") })
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", fmt.Sprintf(grow, "2Gi"))
	w.waitFor(t, set, "asks for less", func(now *unstructured.Unstructured) error { return asksFor(now, "2Gi") })
	now := w.reconciled(t, ns, "web", "True", "ClaimNotBound")
	if text := fmt.Sprint(now.Object["status"]); !strings.Contains(text, "not bound and do not request 2Gi: prometheus-web-db-prometheus-web-0 (10Ti). The API server resizes bound PVCs only") {
		t.Errorf("status %s", text)
	}
	w.delete(t, "v1", "PersistentVolumeClaim", ns, claim.GetName())
	w.delete(t, "v1", "Pod", ns, "prometheus-web-0")
	w.waitFor(t, claim, "is bound", func(now *unstructured.Unstructured) error {
		if phase, _, _ := unstructured.NestedString(now.Object, "status", "phase"); phase != "Bound" {
			return fmt.Errorf("phase %s", phase)
		}
		return asksFor(now, "2Gi")
	})
	w.saysNothing(t, ns)
}

// saysNothing waits until the condition Reconciled of web has no reason.
func (w *environment) saysNothing(t *testing.T, namespace string) {
	t.Helper()
	w.waitFor(t, owner(namespace, "web"), "has nothing to say", func(o *unstructured.Unstructured) error {
		if reason := fmt.Sprint(o.Object["status"]); strings.Contains(reason, "StorageCannotShrink") || strings.Contains(reason, "ClaimNotBound") {
			return errors.New(reason)
		}
		return nil
	})
}

// Storage that cannot be resized does not block other changes.
func TestStorageCannotGrow(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "grow-not", "", "--controller-id=grow-not")
	ns, claim := w.claiming(t, "grow-not", false)
	pod := w.podOf(t, ns, "prometheus-web")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", strings.Replace(fmt.Sprintf(grow, "3Gi"), `"retention":"9d"`, `"minReadySeconds":7`, 1))
	w.fails(t, ns, `expand PersistentVolumeClaim "prometheus-web-db-prometheus-web-0" to 3Gi`)
	w.waitFor(t, stateful(ns, "prometheus-web"), "has the rest of the change", func(now *unstructured.Unstructured) error {
		if seconds, _, _ := unstructured.NestedInt64(now.Object, "spec", "minReadySeconds"); seconds != 7 {
			return fmt.Errorf("minReadySeconds %d", seconds)
		}
		return asksFor(now, "2Gi")
	})
	w.waitFor(t, claim, "is as it was", func(now *unstructured.Unstructured) error { return asksFor(now, "2Gi") })
	// Later changes are applied as well, and manual edits are undone.
	for _, change := range []func(){
		func() {
			w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"minReadySeconds":8}}`)
		},
		func() { w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"spec":{"minReadySeconds":99}}`) },
	} {
		o.settle(t)
		change()
		w.waitFor(t, stateful(ns, "prometheus-web"), "has the later change", func(now *unstructured.Unstructured) error {
			if seconds, _, _ := unstructured.NestedInt64(now.Object, "spec", "minReadySeconds"); seconds != 8 {
				return fmt.Errorf("minReadySeconds %d", seconds)
			}
			return asksFor(now, "2Gi")
		})
	}
	// Once the class permits expansion, the size is applied.
	w.patch(t, "storage.k8s.io/v1", "StorageClass", "", ns, `{"allowVolumeExpansion":true}`)
	w.waitFor(t, stateful(ns, "prometheus-web"), "asks for more", func(now *unstructured.Unstructured) error { return asksFor(now, "3Gi") })
	w.reconciled(t, ns, "web", "True")
	if after := w.podOf(t, ns, "prometheus-web"); after.GetUID() != pod.GetUID() {
		t.Error("the pod was replaced")
	}
}

// A new image of the reloaders is applied with the next change that replaces the pods.
func TestReloaderImageWaits(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "image-waits"
	o := w.operator(t, id, "", "--controller-id="+id, "--prometheus-config-reloader=reloader:1")
	ns := w.deployed(t, o, id)
	o.stop(t)
	o = w.run(t, id, "--controller-id="+id, "--prometheus-config-reloader=reloader:2")
	o.settle(t)
	set, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
	if err != nil {
		t.Fatal(err)
	}
	if got := image(set, "config-reloader"); got != "reloader:1" {
		t.Errorf("with a new operator: image %q", got)
	}
	calls := o.during(t, func() { // an edit that does not affect the pods
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"scrapeInterval":"17s"}}`)
		o.settle(t)
	})
	if set, err = w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web"); err != nil || image(set, "config-reloader") != "reloader:1" {
		t.Errorf("after an edit of the configuration: image %q, %v; calls %v", image(set, "config-reloader"), err, texts(calls))
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"logLevel":"debug"}}`)
	w.waitFor(t, set, "has the new image", func(now *unstructured.Unstructured) error {
		if a, b := image(now, "config-reloader"), image(now, "init-config-reloader"); a != "reloader:2" || b != "reloader:2" {
			return fmt.Errorf("images %q and %q", a, b)
		}
		return nil
	})
	o.stop(t)
	w.run(t, id, "--controller-id="+id, "--prometheus-config-reloader=reloader:3", "--restart-for-reloader-image")
	w.waitFor(t, set, "has the image that is forced", func(now *unstructured.Unstructured) error {
		if got := image(now, "config-reloader"); got != "reloader:3" {
			return fmt.Errorf("image %q", got)
		}
		return nil
	})
}

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rules are added and removed when the labels of their namespaces change.
func TestRulerFollowsNamespaces(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-namespaces"
	o := w.operator(t, id, "", "--controller-id="+id)
	home, other := w.namespace(t), w.namespace(t)
	w.apply(t, fill(rule, other, id))
	w.apply(t, rulerNamed(home, "web", id, "  ruleNamespaceSelector: {matchLabels: {team: "+home+"}}\n"))
	w.reports(t, thanosRuler(home, "web"), "True", "NoSelectedResources")
	label := func(team string) {
		w.patch(t, "v1", "Namespace", "", other, fmt.Sprintf(`{"metadata":{"labels":{"team":%s}}}`, team))
	}
	for range 2 {
		label(`"` + home + `"`)
		w.rulerRuns(t, home, "app:up")
		label("null")
		eventually(t, "the rule is gone", func() error {
			if files := w.rulerRules(t, home, "web")["thanos-ruler-web-rulefiles-0"]; len(files) > 0 {
				return fmt.Errorf("files %v", files)
			}
			return nil
		})
	}
	label(`"` + home + `"`)
	w.rulerRuns(t, home, "app:up")
	w.delete(t, "v1", "Namespace", "", other)
	w.reports(t, thanosRuler(home, "web"), "True", "NoSelectedResources")
	o.settle(t)
}

// A ThanosRuler that is deleted and immediately recreated, with or without its objects, is complete in the end.
func TestRulerIsReplacedAtOnce(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-again"
	o := w.operator(t, id, "", "--controller-id="+id, "--feature-gates=StatusForConfigurationResources=true")
	ns := w.rulerDeployed(t, o, id)
	for name, propagation := range map[string]metav1.DeletionPropagation{"background": metav1.DeletePropagationBackground, "orphan": metav1.DeletePropagationOrphan} {
		t.Run(name, func(t *testing.T) {
			before, err := w.get(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.of(t, before).Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
				t.Fatal(err)
			}
			w.gone(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
			w.apply(t, fill(ruler, ns, id))
			now, err := w.get(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rulerChildren {
				within(t, 2*time.Minute, c.name+" belongs to the new one", func() error { // the garbage collector is slow with new kinds
					o, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
					if err != nil {
						return err
					}
					if refs := o.GetOwnerReferences(); len(refs) != 1 || refs[0].UID != now.GetUID() || o.GetDeletionTimestamp() != nil {
						return fmt.Errorf("owners %v, deleted at %v", refs, o.GetDeletionTimestamp())
					}
					return nil
				})
			}
			w.reports(t, thanosRuler(ns, "web"), "True")
			w.rulerRuns(t, ns, "app:up")
			w.says(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "thanosrulers/web True")
			o.settle(t)
		})
	}
}

// Names that lead to invalid object names cause one error before anything is written, and objects controlled by others
// are not touched.
func TestRulerNamesAndStrangers(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-names"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.namespace(t)
	for _, name := range []string{"with.dot", strings.Repeat("l", 60)} {
		w.apply(t, rulerNamed(ns, name, id, ""))
		w.reports(t, thanosRuler(ns, name), "False", "ReconciliationFailed")
	}
	o.settle(t)
	if all := w.list(t, "v1", "Secret", ns); len(all) > 0 {
		t.Errorf("%d Secrets were written", len(all))
	}

	// A Deployment's ConfigMap with the operator's labels, and a StatefulSet with the name of the ThanosRuler's.
	w.apply(t, fill(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: NAMESPACE}
spec:
  replicas: 0
  selector: {matchLabels: {app: other}}
  template: {metadata: {labels: {app: other}}, spec: {containers: [{name: a, image: "a:1"}]}}
`, ns, id))
	other, err := w.kube.AppsV1().Deployments(ns).Get(t.Context(), "other", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, strings.ReplaceAll(fill(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: mine
  namespace: NAMESPACE
  labels: {thanos-ruler-name: web, managed-by: prometheus-operator}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: other, uid: OTHER, controller: true}]
data: {mine.yaml: "groups: []"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: thanos-ruler-web
  namespace: NAMESPACE
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: other, uid: OTHER, controller: true}]
spec:
  replicas: 0
  serviceName: other
  selector: {matchLabels: {app: other}}
  template: {metadata: {labels: {app: other}}, spec: {containers: [{name: a, image: "a:1"}]}}
`, ns, id), "OTHER", string(other.UID)))
	w.apply(t, fill(rule+"---"+ruler, ns, id))
	w.rulerFails(t, ns, "thanos-ruler-web")
	o.settle(t)
	set, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "thanos-ruler-web", metav1.GetOptions{})
	if err != nil || set.Spec.ServiceName != "other" || len(set.OwnerReferences) != 1 {
		t.Errorf("the StatefulSet of somebody else was changed, %v", err)
	}
	w.delete(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web")
	within(t, 2*time.Minute, "the ThanosRuler gets its name", func() error {
		set, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "thanos-ruler-web", metav1.GetOptions{})
		if err == nil && set.Spec.ServiceName == "other" {
			err = fmt.Errorf("it is the other one")
		}
		return err
	})
	w.reports(t, thanosRuler(ns, "web"), "True")
	w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[]}}`)
	eventually(t, "the rules are empty", func() error {
		for _, text := range w.rulerRules(t, ns, "web")["thanos-ruler-web-rulefiles-0"] {
			if strings.Contains(text, "app:up") {
				return fmt.Errorf("%s", text)
			}
		}
		return nil
	})
	o.settle(t)
	if mine, err := w.get(t, "v1", "ConfigMap", ns, "mine"); err != nil || fmt.Sprint(mine.Object["data"]) != "map[mine.yaml:groups: []]" {
		t.Errorf("the ConfigMap of somebody else was changed, %v", err)
	}
}

// Changes of flags and labels that are part of the selector recreate the StatefulSet and keep its pod.
func TestRulersSelectorChanges(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-labels"
	o := w.operator(t, id, "", "--controller-id="+id)
	ns := w.rulerDeployed(t, o, id)
	before, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web")
	if err != nil {
		t.Fatal(err)
	}
	w.becomesReady(t, ns, "thanos-ruler-web-0", "")
	o.settle(t)
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"spec":{"podMetadata":{"labels":{"team":"a"}}}}`)
	w.waitFor(t, before, "is recreated", func(now *unstructured.Unstructured) error {
		if team, _, _ := unstructured.NestedString(now.Object, "spec", "selector", "matchLabels", "team"); now.GetUID() == before.GetUID() || team != "a" {
			return fmt.Errorf("team %q", team)
		}
		return nil
	})
	eventually(t, "its pod belongs to it", func() error {
		now, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "thanos-ruler-web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		pod, err := w.kube.CoreV1().Pods(ns).Get(t.Context(), "thanos-ruler-web-0", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Labels["team"] != "a" || !metav1.IsControlledBy(pod, now) {
			return fmt.Errorf("labels %v, owners %v", pod.Labels, pod.OwnerReferences)
		}
		return nil
	})
	if v, err := o.metric("prometheus_operator_reconcile_sts_delete_create_total", "controller", "thanos"); err != nil || v != 1 {
		t.Errorf("recreated %v, %v", v, err)
	}
	w.reports(t, thanosRuler(ns, "web"), "True")
	o.settle(t)
}

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// web is a Prometheus with a monitor and a rule in a namespace, with the placeholders NAMESPACE and ID.
const web = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata:
  name: web
  namespace: NAMESPACE
  annotations: {operator.prometheus.io/controller-id: "ID"}
spec:
  replicas: 1
  serviceMonitorSelector: {}
  podMonitorSelector: {}
  ruleSelector: {}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: app}}
  endpoints: [{port: http}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: app, namespace: NAMESPACE}
spec:
  groups: [{name: app, rules: [{record: "app:up", expr: "sum(up)"}]}]
`

// fill replaces NAMESPACE and ID in manifests.
func fill(manifests, namespace, id string) string {
	return strings.NewReplacer("NAMESPACE", namespace, "ID", id).Replace(manifests)
}

// deployed applies web and waits until it is reconciled and the operator is idle.
func (w *environment) deployed(t *testing.T, o *operator, id string) (namespace string) {
	t.Helper()
	namespace = w.namespace(t)
	w.apply(t, fill(web, namespace, id))
	w.reconciled(t, namespace, "web", "True")
	o.settle(t)
	return namespace
}

// children lists the objects of the Prometheus "web".
var children = []struct{ apiVersion, kind, name string }{
	{"v1", "Secret", "prometheus-web"},
	{"v1", "Secret", "prometheus-web-tls-assets-0"},
	{"v1", "Secret", "prometheus-web-web-config"},
	{"v1", "Secret", "prometheus-web-thanos-prometheus-http-client-file"},
	{"v1", "ConfigMap", "prometheus-web-rulefiles-0"},
	{"v1", "Service", "prometheus-operated"},
	{"apps/v1", "StatefulSet", "prometheus-web"},
}

func TestChildrenAreKept(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "children", "", "--controller-id=children")
	ns := w.deployed(t, o, "children")

	for _, c := range children {
		t.Run("deleted "+c.kind+" "+c.name, func(t *testing.T) {
			before, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
			if err != nil {
				t.Fatal(err)
			}
			w.delete(t, c.apiVersion, c.kind, ns, c.name)
			w.again(t, before)
			o.settle(t)
		})
	}
	for name, edit := range map[string]struct {
		child int
		patch string
	}{
		"configuration":             {0, `{"data":{"prometheus.yaml.gz":"aGFjaw=="}}`},
		"a key more":                {0, `{"data":{"more":"aGFjaw=="}}`},
		"web configuration":         {2, `{"data":{"web-config.yaml":"aGFjaw=="}}`},
		"rules":                     {4, `{"data":{"evil.yaml":"groups: []"}}`},
		"rules as binary data":      {4, `{"binaryData":{"evil.yaml":"aGFjaw=="}}`},
		"port of the Service":       {5, `{"spec":{"ports":[{"name":"web","port":80,"targetPort":"web"}]}}`},
		"pods of the Service":       {5, `{"spec":{"selector":{"app":"other"}}}`},
		"replicas":                  {6, `{"spec":{"replicas":5}}`},
		"memory of a container":     {6, `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`},
		"label of ours":             {6, `{"metadata":{"labels":{"app.kubernetes.io/instance":"hack"}}}`},
		"label that finds it":       {6, `{"metadata":{"labels":{"managed-by":null}}}`},
		"label that finds a Secret": {0, `{"metadata":{"labels":{"managed-by":null}}}`},
		"immutable rules":           {4, `{"immutable":true}`},
		"immutable Secret":          {2, `{"immutable":true}`},
		"owner reference":           {0, `{"metadata":{"ownerReferences":null}}`},
		"reserved annotation":       {6, `{"metadata":{"annotations":{"operator.prometheus.io/deletion-deadline":"2020-01-01T00:00:00Z"}}}`},
	} {
		t.Run("edited "+name, func(t *testing.T) {
			c := children[edit.child]
			before, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
			if err != nil {
				t.Fatal(err)
			}
			w.patch(t, c.apiVersion, c.kind, ns, c.name, edit.patch)
			w.waitFor(t, before, "is restored", func(now *unstructured.Unstructured) error { return sameContent(before, now) })
			o.settle(t)
		})
	}
	t.Run("what others put on objects stays", func(t *testing.T) {
		for _, c := range children {
			w.patch(t, c.apiVersion, c.kind, ns, c.name, `{"metadata":{"labels":{"theirs":"x"},"annotations":{"theirs":"y"}}}`)
		}
		w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web",
			`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"logLevel":"debug"}}`)
		w.waitFor(t, children0(ns, 6), "has the new argument", func(o *unstructured.Unstructured) error {
			if !strings.Contains(fmt.Sprint(o.Object["spec"]), "--log.level=debug") {
				return fmt.Errorf("it has not")
			}
			return nil
		})
		for i, c := range children {
			now, err := w.get(t, c.apiVersion, c.kind, ns, c.name)
			if err != nil {
				t.Fatal(err)
			}
			if now.GetLabels()["theirs"] != "x" || now.GetAnnotations()["theirs"] != "y" {
				t.Errorf("%s %s: labels %v, annotations %v", c.kind, c.name, now.GetLabels(), now.GetAnnotations())
			}
			if i == 6 && !strings.Contains(fmt.Sprint(now.Object["spec"]), "restartedAt:now") {
				t.Error("the restart that kubectl asked for is lost")
			}
		}
	})
	t.Run("an edit that does not matter is left alone", func(t *testing.T) {
		o.settle(t)
		calls := o.during(t, func() {
			w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"spec":{"revisionHistoryLimit":3}}`)
		})
		// The edits above caused a write conflict, which the operator removes from the status once.
		if i := slices.IndexFunc(calls, func(c call) bool { return c.what() == "patch prometheuses/status web" }); i >= 0 {
			calls = slices.Delete(calls, i, i+1)
		}
		wantCalls(t, calls)
	})
	t.Run("all go with their owner", func(t *testing.T) {
		w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
		for i := range children {
			eventually(t, children[i].kind+" "+children[i].name+" is gone", func() error {
				if _, err := w.get(t, children[i].apiVersion, children[i].kind, ns, children[i].name); err == nil {
					return fmt.Errorf("still there")
				}
				return nil
			})
		}
		o.settle(t)
		if v, err := o.metric("prometheus_operator_syncs"); err != nil || v != 0 {
			t.Errorf("syncs of a deleted owner: %v, %v", v, err)
		}
		if v, err := o.metric("prometheus_operator_managed_resources"); err == nil && v != 0 {
			t.Errorf("managed resources of a deleted owner: %v", v)
		}
	})
}

func children0(namespace string, i int) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(children[i].apiVersion)
	o.SetKind(children[i].kind)
	o.SetNamespace(namespace)
	o.SetName(children[i].name)
	return o
}

// again waits until an object was recreated with the same content.
func (w *environment) again(t *testing.T, before *unstructured.Unstructured) {
	t.Helper()
	w.waitFor(t, before, "is made again", func(now *unstructured.Unstructured) error {
		if now.GetUID() == before.GetUID() {
			return fmt.Errorf("the old one is still there")
		}
		return sameContent(before, now)
	})
}

// sameContent compares the fields of an object that the operator manages.
func sameContent(a, b *unstructured.Unstructured) error {
	for what, of := range map[string]func(*unstructured.Unstructured) any{
		"data":       func(o *unstructured.Unstructured) any { return o.Object["data"] },
		"binaryData": func(o *unstructured.Unstructured) any { return o.Object["binaryData"] },
		"immutable":  func(o *unstructured.Unstructured) any { return o.Object["immutable"] },
		"spec":       func(o *unstructured.Unstructured) any { return o.Object["spec"] },
		"labels":     func(o *unstructured.Unstructured) any { return o.GetLabels() },
		"owners":     func(o *unstructured.Unstructured) any { return o.GetOwnerReferences() },
		"reserved annotations": func(o *unstructured.Unstructured) any {
			return o.GetAnnotations()["operator.prometheus.io/deletion-deadline"]
		},
	} {
		if diff := cmp.Diff(of(a), of(b)); diff != "" {
			return fmt.Errorf("%s: was -, is +\n%s", what, diff)
		}
	}
	return nil
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A namespace is deleted with a Prometheus, which has a finalizer, and a monitor that a Prometheus in another namespace
// selects. Failed creations of the operator are no errors, and there is no event about a monitor whose Secret was
// deleted before it.
func TestNamespaceIsDeleted(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "terminating", "", "--controller-id=terminating")
	ns, elsewhere := w.namespace(t, "team", "terminating"), w.namespace(t)
	const monitor = `
{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: NAMESPACE}, stringData: {user: ada, password: x}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: NAMESPACE, finalizers: [example.org/keep]}
spec: {selector: {}, endpoints: [{port: http, basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}}]}
`
	w.apply(t, fill(monitor, ns, ""))
	w.apply(t, strings.Replace(prometheusOnly(ns, "web", "terminating", "  ruleSelector: {}\n"), "metadata: {", "metadata: {finalizers: [example.org/keep], ", 1))
	w.apply(t, prometheusOnly(elsewhere, "all", "terminating", "  serviceMonitorNamespaceSelector: {matchLabels: {team: terminating}}\n"))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0")
	w.jobs(t, elsewhere, "all", "serviceMonitor/"+ns+"/app/0")
	w.reconciled(t, ns, "web", "True")
	o.settle(t)
	before := len(w.audit.calls(t, o.user))

	w.delete(t, "v1", "Namespace", "", ns)
	for _, c := range children {
		w.delete(t, c.apiVersion, c.kind, ns, c.name)
	}
	eventually(t, "the Secret is gone", func() error {
		if _, err := w.get(t, "v1", "Secret", ns, "login"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is not: %w", err)
		}
		return nil
	})
	// Both objects change and are therefore reconciled.
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"logLevel":"debug"}}`)
	w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns, "app", `{"metadata":{"labels":{"changed":"yes"}}}`)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", elsewhere, "all", `{"spec":{"logLevel":"debug"}}`)
	set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"namespace": elsewhere, "name": "prometheus-all"}}}
	w.waitFor(t, set, "has the new argument", func(s *unstructured.Unstructured) error {
		if !strings.Contains(fmt.Sprint(s.Object["spec"]), "--log.level=debug") {
			return fmt.Errorf("it has not")
		}
		return nil
	})
	o.settle(t)
	for _, kind := range []struct{ kind, name string }{{"ServiceMonitor", "app"}, {"Prometheus", "web"}} {
		w.patch(t, "monitoring.coreos.com/v1", kind.kind, ns, kind.name, `{"metadata":{"finalizers":null}}`)
	}
	eventually(t, "the namespace is gone", func() error {
		if _, err := w.get(t, "v1", "Namespace", "", ns); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is not: %w", err)
		}
		return nil
	})
	o.settle(t)

	refused := 0
	for _, c := range w.audit.calls(t, o.user)[before:] {
		if c.Object.Namespace == ns && c.Verb == "create" {
			refused++
		}
	}
	t.Logf("%d creates in a namespace that is being deleted", refused)
	if refused > 3 {
		t.Errorf("%d creates in a namespace that is being deleted", refused)
	}
	for line := range strings.SplitSeq(o.log.String(), "\n") {
		if strings.Contains(line, "level=error") || strings.Contains(line, "rejected") || strings.Contains(line, "Server rejected event") {
			t.Error(line)
		}
	}
}

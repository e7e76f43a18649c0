package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edge is a PrometheusAgent with the same name as the Prometheus of web.
const edge = `
apiVersion: monitoring.coreos.com/v1alpha1
kind: PrometheusAgent
metadata:
  name: web
  namespace: NAMESPACE
  annotations: {operator.prometheus.io/controller-id: "ID"}
spec:
  podMonitorSelector: {}
  serviceMonitorSelector: {}
`

// gone waits until an object does not exist.
func (w *environment) gone(t *testing.T, apiVersion, kind, namespace, name string) {
	t.Helper()
	eventually(t, kind+" "+name+" is gone", func() error {
		_, err := w.get(t, apiVersion, kind, namespace, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is not: %v", err)
	})
}

// A server and an agent can have the same name in one namespace.
func TestAgentBesideServer(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "agent", "", "--controller-id=agent")
	ns := w.deployed(t, o, "agent")
	w.apply(t, podMonitor(ns, "pods", "x"))
	w.apply(t, fill(edge, ns, "agent"))
	w.reports(t, agent(ns, "web"), "True")
	w.jobsIn(t, ns, "prom-agent-web", "podMonitor/"+ns+"/pods/0", "serviceMonitor/"+ns+"/app/0")
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/pods/0")
	for _, secret := range []string{"prom-agent-web-tls-assets-0", "prom-agent-web-web-config"} {
		if _, err := w.get(t, "v1", "Secret", ns, secret); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ kind, name string }{{"ConfigMap", "prom-agent-web-rulefiles-0"}, {"Secret", "prom-agent-web-thanos-prometheus-http-client-file"}} {
		if _, err := w.get(t, "v1", c.kind, ns, c.name); !apierrors.IsNotFound(err) {
			t.Errorf("an agent has a %s %s: %v", c.kind, c.name, err)
		}
	}
	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web", `{"spec":{"shards":3}}`)
	w.waitFor(t, stateful(ns, "prom-agent-web-shard-2"), "exists", func(*unstructured.Unstructured) error { return nil })
	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web", `{"spec":{"shards":1}}`)
	w.gone(t, "apps/v1", "StatefulSet", ns, "prom-agent-web-shard-1")
	w.gone(t, "apps/v1", "StatefulSet", ns, "prom-agent-web-shard-2")
	if _, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web"); err != nil {
		t.Errorf("the server of the same name: %v", err)
	}

	o.settle(t)
	calls := o.during(t, func() {
		w.patch(t, "v1", "ConfigMap", ns, "kube-root-ca.crt", `{"metadata":{"labels":{"a":"b"}}}`)
		w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", ns, "pods", `{"metadata":{"annotations":{"a":"b"}}}`)
	})
	wantCalls(t, calls)

	for _, controller := range []string{"prometheus", "prometheus-agent"} {
		for resource, want := range map[string]float64{"ServiceMonitor": 1, "PodMonitor": 1} {
			v, err := o.metric("prometheus_operator_managed_resources", "controller", controller, "resource", resource, "state", "selected")
			if err != nil || v != want {
				t.Errorf("%s selects %v %ss, %v", controller, v, resource, err)
			}
		}
	}
	if v, err := o.metric("prometheus_operator_workqueue_adds_total", "name", "prometheusagent"); err != nil || v == 0 {
		t.Errorf("queue of the agents: %v, %v", v, err)
	}
	w.apply(t, fill(withPassword, ns, ""))
	eventually(t, "both controllers tell of the rejected monitor", func() error {
		list, err := w.kube.EventsV1().Events(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var told []string
		for _, e := range list.Items {
			if e.Regarding.Name == "secured" && e.Related != nil {
				told = append(told, e.ReportingController+" "+e.Related.Kind)
			}
		}
		slices.Sort(told)
		if !slices.Equal(slices.Compact(told), []string{"prometheus-controller Prometheus", "prometheusagent-controller PrometheusAgent"}) {
			return fmt.Errorf("told by %q", told)
		}
		return nil
	})
	w.delete(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web")
	eventually(t, "the deleted agent is forgotten", func() error {
		agents, err := o.metric("prometheus_operator_syncs", "controller", "prometheus-agent")
		if err != nil || agents != 0 {
			return fmt.Errorf("%v agents, %v", agents, err)
		}
		return nil
	})
	if servers, err := o.metric("prometheus_operator_syncs", "controller", "prometheus"); err != nil || servers != 1 {
		t.Errorf("%v servers, %v", servers, err)
	}
	o.stop(t)
	eventually(t, "each kind was watched once", func() error {
		watches := map[string]int{} // watches are in the audit log once they end
		for _, c := range w.audit.calls(t, o.user) {
			if c.Verb == "watch" && c.Response.Code == http.StatusOK {
				watches[c.Object.Resource]++
			}
		}
		for _, resource := range []string{"prometheuses", "prometheusagents", "servicemonitors", "podmonitors", "probes", "scrapeconfigs", "prometheusrules", "namespaces", "pods"} {
			if watches[resource] != 1 {
				return fmt.Errorf("watches %v", watches)
			}
		}
		if n := watches["services"]; n != 3 { // Prometheus and agents, ThanosRulers, Alertmanagers: their selectors differ
			return fmt.Errorf("%d watches of Services", n)
		}
		return nil
	})
}

func stateful(namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("apps/v1")
	o.SetKind("StatefulSet")
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// The mode of an agent can change to DaemonSet and back.
func TestAgentDaemonSet(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "daemonset", "", "--controller-id=daemonset", "--feature-gates=PrometheusAgentDaemonSet=true")
	ns := w.namespace(t)
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: edge, labels: {only: daemonset}}")
	w.apply(t, podMonitor(ns, "pods", "x"))
	// Other tests have up to thousands of nodes.
	w.apply(t, strings.Replace(fill(edge, ns, "daemonset"), "  serviceMonitorSelector: {}\n", "  nodeSelector: {only: daemonset}\n", 1))
	w.reports(t, agent(ns, "web"), "True")
	w.waitFor(t, stateful(ns, "prom-agent-web"), "exists", func(*unstructured.Unstructured) error { return nil })

	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web", `{"spec":{"mode":"DaemonSet"}}`)
	w.reports(t, agent(ns, "web"), "True")
	w.gone(t, "apps/v1", "StatefulSet", ns, "prom-agent-web")
	w.gone(t, "v1", "Service", ns, "prometheus-agent-operated")
	text, err := w.configuration(t, ns, "prom-agent-web")
	if err != nil || !strings.Contains(text, "spec.nodeName=$(NODE_NAME)") {
		t.Errorf("%v; the configuration does not say which node is scraped:\n%s", err, text)
	}
	eventually(t, "is available", func() error {
		if err := w.makePodsReady(t, ns); err != nil { // also pods that replace others
			return err
		}
		a, err := w.get(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web")
		if err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedInt64(a.Object, "status", "availableReplicas")
		updated, _, _ := unstructured.NestedInt64(a.Object, "status", "updatedReplicas")
		if ready == 0 || ready != updated {
			return fmt.Errorf("%d pods are ready, %d updated", ready, updated)
		}
		return hasCondition(a, "Available", "True")
	})

	ds, err := w.get(t, "apps/v1", "DaemonSet", ns, "prom-agent-web")
	if err != nil {
		t.Fatal(err)
	}
	if hash := ds.GetAnnotations()["prometheus-operator-input-hash"]; hash != "" || ds.GetLabels()["operator.prometheus.io/shard"] != "" {
		t.Errorf("hash %q, labels %v", hash, ds.GetLabels())
	}
	for name, patch := range map[string]string{
		"spec":  `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":7}}}}`,
		"label": `{"metadata":{"labels":{"app.kubernetes.io/instance":"hack"}}}`,
		"found": `{"metadata":{"labels":{"managed-by":null}}}`,
	} {
		w.patch(t, "apps/v1", "DaemonSet", ns, "prom-agent-web", patch)
		w.waitFor(t, ds, "is restored after an edit of its "+name, func(now *unstructured.Unstructured) error { return sameContent(ds, now) })
		o.settle(t)
	}
	w.podsAreReady(t, ns)
	o.settle(t)
	wantCalls(t, o.during(t, func() {
		w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", ns, "pods", `{"metadata":{"annotations":{"a":"b"}}}`)
		w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", ns, "pods", `{"metadata":{"labels":{"a":"b"}}}`)
	}))
	w.delete(t, "apps/v1", "DaemonSet", ns, "prom-agent-web")
	w.again(t, ds)

	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web", `{"spec":{"mode":"StatefulSet"}}`)
	w.reports(t, agent(ns, "web"), "True")
	w.gone(t, "apps/v1", "DaemonSet", ns, "prom-agent-web")
	for _, c := range []struct{ apiVersion, kind, name string }{{"apps/v1", "StatefulSet", "prom-agent-web"}, {"v1", "Service", "prometheus-agent-operated"}} {
		if _, err := w.get(t, c.apiVersion, c.kind, ns, c.name); err != nil {
			t.Error(err)
		}
	}
}

// podsAreReady waits until a namespace has pods, and makes them ready.
func (w *environment) podsAreReady(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "pods are there", func() error { return w.makePodsReady(t, namespace) })
}

// makePodsReady simulates a kubelet: it sets all pods of a namespace to running and ready.
//
// Errors: there are none.
func (w *environment) makePodsReady(t *testing.T, namespace string) error {
	pods, err := w.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("none yet")
	}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	for _, p := range pods.Items {
		if len(p.Status.Conditions) == 1 && p.Status.Conditions[0].Status == corev1.ConditionTrue {
			continue
		}
		p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{ready}
		if _, err := w.kube.CoreV1().Pods(namespace).UpdateStatus(t.Context(), &p, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Without the feature gate, no DaemonSet is written. With the gate but without the permissions, the operator does not
// start.
func TestDaemonSetGate(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "gate", "", "--controller-id=gate")
	ns := w.namespace(t)
	w.apply(t, strings.Replace(strings.Replace(fill(edge, ns, "gate"), "  serviceMonitorSelector: {}\n", "", 1), "spec:\n", "spec:\n  mode: DaemonSet\n", 1))
	a := w.reports(t, agent(ns, "web"), "False", "ReconciliationFailed")
	if text := fmt.Sprint(a.Object["status"]); !strings.Contains(text, "feature gate PrometheusAgentDaemonSet") {
		t.Errorf("status %s", text)
	}
	if secrets := w.list(t, "v1", "Secret", ns); len(secrets) != 0 {
		t.Errorf("%d Secrets were written", len(secrets))
	}
	o.stop(t)

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "integration-no-daemonsets"}}
	for _, r := range w.rules(t) {
		if !slices.Contains(r.Resources, "daemonsets") {
			role.Rules = append(role.Rules, r)
		}
	}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(t, "gate-forbidden", role.Name)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	out, err := exec.CommandContext(ctx, w.program, "--as=system:serviceaccount:firekeeper:gate-forbidden", "--web.listen-address=127.0.0.1:0",
		"--kubeconfig="+w.cluster.Kubeconfig, "--feature-gates=PrometheusAgentDaemonSet=true").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "no permission to get, list, watch, create, update, delete daemonsets") {
		t.Errorf("the operator ended with %v\n%s", err, out)
	}
}

// Workloads that were left with a finalizer can be deleted.
func TestFinalizerOfOthers(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "finalizer", "", "--controller-id=finalizer")
	ns := w.deployed(t, o, "finalizer")
	w.apply(t, fill(edge, ns, "finalizer"))
	w.reports(t, agent(ns, "web"), "True")
	for _, owner := range []*unstructured.Unstructured{owner(ns, "web"), agent(ns, "web")} {
		w.patch(t, owner.GetAPIVersion(), owner.GetKind(), ns, "web",
			`{"metadata":{"finalizers":["example.org/first","monitoring.coreos.com/status-cleanup"]}}`)
		w.delete(t, owner.GetAPIVersion(), owner.GetKind(), ns, "web")
		w.waitFor(t, owner, "has only the other's finalizer", func(o *unstructured.Unstructured) error {
			if got := o.GetFinalizers(); !slices.Equal(got, []string{"example.org/first"}) {
				return fmt.Errorf("finalizers %v", got)
			}
			return nil
		})
		w.patch(t, owner.GetAPIVersion(), owner.GetKind(), ns, "web", `{"metadata":{"finalizers":null}}`)
		w.gone(t, owner.GetAPIVersion(), owner.GetKind(), ns, "web")
	}
	if text := o.log.String(); strings.Contains(text, "reconciliation failed") {
		t.Error("a pass failed")
	}
}

// For an agent without its StorageClass, the Secrets are written but not the StatefulSet.
func TestAgentWithoutStorageClass(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "agent-storage", "", "--controller-id=agent-storage")
	ns := w.namespace(t)
	w.apply(t, fill(edge, ns, "agent-storage")+`  storage: {volumeClaimTemplate: {spec: {storageClassName: nowhere, resources: {requests: {storage: 1Gi}}}}}`)
	a := w.reports(t, agent(ns, "web"), "False", "ReconciliationFailed")
	if text := fmt.Sprint(a.Object["status"]); !strings.Contains(text, `storage class "nowhere" does not exist`) {
		t.Errorf("status %s", text)
	}
	if _, err := w.get(t, "v1", "Secret", ns, "prom-agent-web"); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ apiVersion, kind, name string }{{"apps/v1", "StatefulSet", "prom-agent-web"}, {"v1", "Service", "prometheus-agent-operated"}} {
		if _, err := w.get(t, c.apiVersion, c.kind, ns, c.name); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
	w.patch(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web", `{"spec":{"storage":null}}`)
	w.reports(t, agent(ns, "web"), "True")
	o.settle(t)
	if _, err := w.get(t, "apps/v1", "StatefulSet", ns, "prom-agent-web"); err != nil {
		t.Error(err)
	}
}

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bound is a Prometheus, an agent and one object of each kind that they select.
const bound = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: web, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec: {serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}, ruleSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: NAMESPACE}
spec: {selector: {matchLabels: {app: app}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: app, namespace: NAMESPACE}
spec: {selector: {}, podMetricsEndpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: app, namespace: NAMESPACE}
spec: {prober: {url: "prober:80"}, targets: {staticConfig: {static: [a]}}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: app, namespace: NAMESPACE}
spec: {staticConfigs: [{targets: ["a:1"]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: app, namespace: NAMESPACE}
spec: {groups: [{name: app, rules: [{record: "app:up", expr: "sum(up)"}]}]}
`

const boundAgent = `
apiVersion: monitoring.coreos.com/v1alpha1
kind: PrometheusAgent
metadata: {name: web, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec: {serviceMonitorSelector: {}, podMonitorSelector: {}, probeSelector: {}, scrapeConfigSelector: {}}
`

var boundKinds = []struct{ apiVersion, kind string }{
	{"monitoring.coreos.com/v1", "ServiceMonitor"}, {"monitoring.coreos.com/v1", "PodMonitor"}, {"monitoring.coreos.com/v1", "Probe"},
	{"monitoring.coreos.com/v1alpha1", "ScrapeConfig"}, {"monitoring.coreos.com/v1", "PrometheusRule"},
}

// says waits until the bindings of an object are exactly these: "RESOURCE/NAME STATUS REASON".
func (w *environment) says(t *testing.T, apiVersion, kind, namespace string, want ...string) {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName("app")
	w.waitFor(t, o, fmt.Sprintf("is bound to %q", want), func(o *unstructured.Unstructured) error {
		all, _, _ := unstructured.NestedSlice(o.Object, "status", "bindings")
		var got []string
		for _, b := range all {
			b := b.(map[string]any)
			c := b["conditions"].([]any)[0].(map[string]any)
			if c["observedGeneration"] != o.GetGeneration() {
				return fmt.Errorf("generation %v of %d", c["observedGeneration"], o.GetGeneration())
			}
			reason, _ := c["reason"].(string)
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s", b["resource"], b["name"], c["status"], reason)))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("bindings %q", got)
		}
		return nil
	})
}

// The bindings in the status of objects follow the workloads that select them, until the last workload is deleted.
func TestBindings(t *testing.T) {
	w := start(t)
	t.Parallel()
	flags := []string{"--controller-id=bindings", "--feature-gates=StatusForConfigurationResources=true"}
	o := w.operator(t, "bindings", "", flags...)
	ns := w.namespace(t)
	w.apply(t, fill(bound, ns, "bindings"))
	for _, k := range boundKinds {
		w.says(t, k.apiVersion, k.kind, ns, "prometheuses/web True")
	}
	w.apply(t, fill(boundAgent, ns, "bindings"))
	for _, k := range boundKinds[:4] {
		w.says(t, k.apiVersion, k.kind, ns, "prometheusagents/web True", "prometheuses/web True")
	}
	for _, owner := range []*unstructured.Unstructured{owner(ns, "web"), agent(ns, "web")} {
		w.reports(t, owner, "True")
		w.waitFor(t, owner, "has the finalizer", func(o *unstructured.Unstructured) error {
			if got := o.GetFinalizers(); !slices.Equal(got, []string{"monitoring.coreos.com/status-cleanup"}) {
				return fmt.Errorf("finalizers %v", got)
			}
			return nil
		})
	}
	o.settle(t)

	t.Run("an idle operator writes nothing", func(t *testing.T) {
		var calls []call
		for range 3 {
			calls = o.during(t, func() { time.Sleep(5 * time.Second) }) // not a wait: the interval is tested
			if !slices.ContainsFunc(calls, func(c call) bool { return c.Verb == "list" }) {
				break // otherwise the API server ended a watch and the operator compared everything again
			}
		}
		wantCalls(t, calls)
	})
	t.Run("a rejected object is one write for each owner", func(t *testing.T) {
		calls := o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns, "app", `{"spec":{"endpoints":[{"port":"http","interval":"10s","scrapeTimeout":"20s"}]}}`)
			w.says(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns, "prometheusagents/web False InvalidConfiguration", "prometheuses/web False InvalidConfiguration")
		})
		status := 0
		for _, c := range calls {
			if strings.HasSuffix(c.resource(), "/status") && c.Response.Code < 300 { // else it met the write for the other owner
				if status++; c.what() != "patch servicemonitors/status app" {
					t.Errorf("call %s", c.what())
				}
			}
		}
		if status != 2 {
			t.Errorf("%d writes of the status: %q", status, texts(calls))
		}
	})
	t.Run("labels and annotations change nothing", func(t *testing.T) {
		wantCalls(t, o.during(t, func() {
			w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", ns, "app", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
		}))
	})
	t.Run("what is not selected any more is not bound", func(t *testing.T) {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podMonitorSelector":null}}`)
		w.says(t, "monitoring.coreos.com/v1", "PodMonitor", ns, "prometheusagents/web True")
	})
	o.settle(t)
	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, "bindings", flags...) // stopped at the end of the test
	o.settle(t)
	t.Run("a restart writes nothing", func(t *testing.T) {
		for _, c := range w.audit.calls(t, o.user)[before:] {
			if c.writes() && strings.HasSuffix(c.resource(), "/status") {
				t.Errorf("call %s", c.what())
			}
		}
	})
	t.Run("an owner leaves nothing behind", func(t *testing.T) {
		w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
		w.gone(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
		w.says(t, "monitoring.coreos.com/v1", "PrometheusRule", ns)
		w.says(t, "monitoring.coreos.com/v1", "Probe", ns, "prometheusagents/web True")
		w.delete(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web")
		w.gone(t, "monitoring.coreos.com/v1alpha1", "PrometheusAgent", ns, "web")
		for _, k := range boundKinds {
			w.says(t, k.apiVersion, k.kind, ns)
		}
	})
	if text := o.log.String(); strings.Contains(text, "reconciliation failed") {
		t.Error("a pass failed")
	}
}

// An object of a tenant that fills the limit of etcd leaves no room for its status. That neither keeps others from
// theirs, nor a workload from being deleted.
func TestBindingsOfAFullObject(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "bindings-full", "", "--controller-id=bindings-full", "--feature-gates=StatusForConfigurationResources=true")
	ns := w.namespace(t)
	const rule = `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"namespace":%q,"name":"aaa"},"spec":{"groups":[{"name":"g","rules":[{"record":"a:b","expr":"up","labels":{"a":%q}}]}]}}`
	full := &unstructured.Unstructured{}
	stored := func(size int) bool {
		if err := json.Unmarshal(fmt.Appendf(nil, rule, ns, strings.Repeat("x", size)), &full.Object); err != nil {
			t.Fatal(err)
		}
		_, err := w.of(t, full).Create(t.Context(), full, metav1.CreateOptions{})
		if err != nil && !strings.Contains(err.Error(), "request is too large") {
			t.Fatal(err)
		}
		return err == nil
	}
	for step, size := 1<<18, 1<<20; step > 16; {
		if stored(size + step) {
			size += step
			if err := w.of(t, full).Delete(t.Context(), "aaa", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if step /= 2; step <= 16 && !stored(size) {
			t.Fatal("the largest object is not stored any more")
		}
	}
	w.apply(t, fill(bound, ns, "bindings-full"))
	eventually(t, "the log has the full object", func() error {
		if !strings.Contains(o.log.String(), "etcdserver: request is too large") {
			return fmt.Errorf("it does not have it")
		}
		return nil
	})
	for _, k := range boundKinds {
		w.says(t, k.apiVersion, k.kind, ns, "prometheuses/web True")
	}
	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
	w.gone(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
}

// Without the permissions for status.bindings, the operator exits and reports what is missing.
func TestBindingsWithoutRights(t *testing.T) {
	w := start(t)
	t.Parallel()
	rules := w.rules(t)
	for i := range rules {
		rules[i].Resources = slices.DeleteFunc(slices.Clone(rules[i].Resources), func(r string) bool { return r == "probes/status" })
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "integration-no-status"}, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(t, "bindings-forbidden", role.Name)
	o := w.launch(t, "bindings-forbidden", "--controller-id=bindings-forbidden", "--feature-gates=StatusForConfigurationResources=true")
	select {
	case err := <-o.ended:
		o.done = true
		const want = "StatusForConfigurationResources=true: no permission to update, patch probes/status"
		if err == nil || !strings.Contains(o.log.String(), want) {
			t.Errorf("it ended with %v\n%s", err, o.log.Brief(logLines))
		}
	case <-time.After(deadline):
		t.Error("the operator goes on")
	}
}

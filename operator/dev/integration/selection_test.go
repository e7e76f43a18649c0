package integration

import (
	"fmt"
	"strings"
	"testing"
)

// everywhere is a Prometheus that selects monitors in the namespaces with the label team=NAMESPACE.
const everywhere = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata:
  name: all
  namespace: NAMESPACE
  annotations: {operator.prometheus.io/controller-id: "ID"}
spec:
  podMonitorSelector: {matchLabels: {team: NAMESPACE}}
  podMonitorNamespaceSelector: {matchLabels: {team: NAMESPACE}}
  ruleSelector: {}
  ruleNamespaceSelector: {matchLabels: {team: NAMESPACE}}
`

func podMonitor(namespace, name, team string) string {
	return fmt.Sprintf(`
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: %s, namespace: %s, labels: {team: %s}}
spec:
  selector: {}
  podMetricsEndpoints: [{port: http}]
`, name, namespace, team)
}

func TestSelectionFollowsLabels(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "selection", "", "--controller-id=selection")
	home := w.namespace(t)
	other := w.namespace(t)
	w.apply(t, fill(everywhere, home, "selection"))
	w.reconciled(t, home, "all", "True", "NoSelectedResources")
	w.apply(t, podMonitor(other, "app", home))
	w.apply(t, podMonitor(home, "own", home))
	w.apply(t, fill("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r, namespace: NAMESPACE}\nspec: {groups: [{name: r, rules: [{record: a, expr: b}]}]}", other, ""))
	o.settle(t)
	w.jobs(t, home, "all")

	label := func(ns, team string) {
		w.patch(t, "v1", "Namespace", "", ns, fmt.Sprintf(`{"metadata":{"labels":{"team":%s}}}`, team))
	}
	label(other, `"`+home+`"`)
	w.jobs(t, home, "all", "podMonitor/"+other+"/app/0")
	eventually(t, "the rule is selected", func() error {
		if n := len(w.ruleFiles(t, home, "all")); n != 1 {
			return fmt.Errorf("%d files", n)
		}
		return nil
	})
	label(home, `"`+home+`"`)
	jobs := []string{"podMonitor/" + home + "/own/0", "podMonitor/" + other + "/app/0"}
	if other < home {
		jobs[0], jobs[1] = jobs[1], jobs[0]
	}
	w.jobs(t, home, "all", jobs...)
	label(home, "null")
	w.jobs(t, home, "all", "podMonitor/"+other+"/app/0")

	w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", other, "app", `{"metadata":{"labels":{"team":"x"}}}`)
	w.jobs(t, home, "all")
	w.patch(t, "monitoring.coreos.com/v1", "PodMonitor", other, "app", fmt.Sprintf(`{"metadata":{"labels":{"team":%q}}}`, home))
	w.jobs(t, home, "all", "podMonitor/"+other+"/app/0")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", home, "all", `{"spec":{"podMonitorSelector":{"matchLabels":{"team":"nobody"}}}}`)
	w.jobs(t, home, "all")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", home, "all", fmt.Sprintf(`{"spec":{"podMonitorSelector":{"matchLabels":{"team":%q}}}}`, home))
	w.jobs(t, home, "all", "podMonitor/"+other+"/app/0")
	w.delete(t, "monitoring.coreos.com/v1", "PodMonitor", other, "app")
	w.jobs(t, home, "all")

	// A namespace that is created later, with its monitor right after it.
	late := w.namespace(t, "team", home)
	w.apply(t, podMonitor(late, "late", home))
	w.jobs(t, home, "all", "podMonitor/"+late+"/late/0")
	w.delete(t, "v1", "Namespace", "", late)
	w.jobs(t, home, "all")
}

func TestNamespacesInScope(t *testing.T) {
	w := start(t)
	t.Parallel()
	in, out := w.namespace(t), w.namespace(t)
	monitors := func(ns string) { w.apply(t, podMonitor(ns, "app", in)) }
	monitors(in)
	monitors(out)
	for name, tc := range map[string]struct {
		flag  string
		other bool // the Prometheus that is out of scope is managed too
	}{
		"allowed":   {"--namespaces=" + in, false},
		"denied":    {"--deny-namespaces=" + out, false},
		"instances": {"--prometheus-instance-namespaces=" + in, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := "scope-" + name
			for _, ns := range []string{in, out} {
				w.apply(t, strings.NewReplacer("NAME", name, "PLACE", ns, "ID", id, "TEAM", in).Replace(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: NAME, namespace: PLACE, annotations: {operator.prometheus.io/controller-id: ID}}
spec:
  podMonitorSelector: {matchLabels: {team: TEAM}}
  podMonitorNamespaceSelector: {}
`))
			}
			o := w.operator(t, id, "", "--controller-id="+id, tc.flag)
			w.reconciled(t, in, name, "True")
			o.settle(t)
			jobs := []string{"podMonitor/" + in + "/app/0"}
			if tc.other {
				if jobs = append(jobs, "podMonitor/"+out+"/app/0"); out < in {
					jobs[0], jobs[1] = jobs[1], jobs[0]
				}
			}
			w.jobs(t, in, name, jobs...)
			if _, err := w.configuration(t, out, "prometheus-"+name); err == nil {
				t.Error("a Prometheus out of scope was looked after")
			}
			for _, c := range w.audit.calls(t, o.user) {
				if c.Object.Namespace == out {
					t.Errorf("a call in a namespace out of scope: %s", c.what())
				}
			}
		})
	}
}

// Two operators share a cluster by the controller ID of the objects.
func TestControllerID(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "id", "", "--controller-id=mine")
	ns := w.namespace(t)
	w.apply(t, fill(web, ns, "somebody-else"))
	o.settle(t)
	if _, err := w.configuration(t, ns, "prometheus-web"); err == nil {
		t.Fatal("somebody else's object was looked after")
	}
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"metadata":{"annotations":{"operator.prometheus.io/controller-id":"mine"}}}`)
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0")
	w.reconciled(t, ns, "web", "True")
	o.settle(t)
	calls := o.during(t, func() {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"metadata":{"annotations":{"operator.prometheus.io/controller-id":null}}}`)
		o.forgets(t) // events of different kinds are not ordered
		w.delete(t, "v1", "Secret", ns, "prometheus-web")
		w.apply(t, podMonitor(ns, "more", "x"))
	})
	wantCalls(t, calls)
}

// forgets waits until an operator manages no objects.
func (o *operator) forgets(t *testing.T) {
	t.Helper()
	eventually(t, "the operator looks after nothing", func() error {
		if v, err := o.metric("prometheus_operator_syncs"); err != nil || v != 0 {
			return fmt.Errorf("syncs %v, %v", v, err)
		}
		return nil
	})
}

func TestProbesAndScrapeConfigs(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "kinds", "", "--controller-id=kinds")
	ns := w.deployed(t, o, "kinds")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"probeSelector":{},"scrapeConfigSelector":{}}}`)
	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: page, namespace: NAMESPACE}
spec:
  prober: {url: blackbox.NAMESPACE.svc}
  targets: {staticConfig: {static: ["https://example.com"]}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: host, namespace: NAMESPACE}
spec:
  staticConfigs: [{targets: ["host:9100"]}]
`, ns, ""))
	jobs := []string{"serviceMonitor/" + ns + "/app/0", "probe/" + ns + "/page", "scrapeConfig/" + ns + "/host"}
	w.jobs(t, ns, "web", jobs...)
	w.delete(t, "monitoring.coreos.com/v1", "Probe", ns, "page")
	w.jobs(t, ns, "web", jobs[0], jobs[2])
	w.delete(t, "monitoring.coreos.com/v1alpha1", "ScrapeConfig", ns, "host")
	w.jobs(t, ns, "web", jobs[0])
}

package integration

import (
	"fmt"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const withPassword = `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: secured, namespace: NAMESPACE}
spec:
  selector: {}
  endpoints:
  - port: http
    basicAuth:
      username: {name: login, key: user}
      password: {name: login, key: password}
`

func login(namespace, password string) string { return loginNamed(namespace, "login", password) }

func loginNamed(namespace, name, password string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: %s, namespace: %s}
stringData: {user: ada, password: %s}
`, name, namespace, password)
}

func TestReferences(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "references", "", "--controller-id=references")
	ns := w.deployed(t, o, "references")
	app, secured := "serviceMonitor/"+ns+"/app/0", "serviceMonitor/"+ns+"/secured/0"
	rejected := func(want float64) {
		t.Helper()
		eventually(t, "rejected objects are counted", func() error {
			v, err := o.metric("prometheus_operator_managed_resources", "resource", "ServiceMonitor", "state", "rejected")
			if err == nil && v != want {
				err = fmt.Errorf("%v, want %v", v, want)
			}
			return err
		})
	}

	w.apply(t, fill(withPassword, ns, ""))
	rejected(1)
	note := w.event(t, ns, "secured")
	if note.Reason != "InvalidConfiguration" || note.Action != "SelectingConfigurationResources" || note.Type != "Warning" ||
		note.ReportingController != "prometheus-controller" || note.Regarding.Kind != "ServiceMonitor" || note.Related == nil || note.Related.Name != "web" ||
		!strings.Contains(note.Note, `"`+ns+`/secured"`) || !strings.Contains(note.Note, "login") {
		t.Errorf("event %+v", note)
	}
	w.jobs(t, ns, "web", app)
	w.reconciled(t, ns, "web", "True") // the workload is reconciled

	w.apply(t, login(ns, "hunter-one"))
	w.jobs(t, ns, "web", app, secured)
	rejected(0)
	o.settle(t)
	calls := o.during(t, func() {
		w.apply(t, login(ns, "hunter-two"))
		eventually(t, "the new password is used", func() error {
			text, err := w.configuration(t, ns, "prometheus-web")
			if err == nil && !strings.Contains(text, "password: hunter-two") {
				err = fmt.Errorf("it is not")
			}
			return err
		})
	})
	wantCalls(t, calls, "get secrets login", "update secrets prometheus-web")

	w.delete(t, "v1", "Secret", ns, "login")
	w.jobs(t, ns, "web", app)
	rejected(1)
	if strings.Contains(o.log.String(), "hunter-") {
		t.Error("the log holds a secret value")
	}
}

// A Secret that the workload itself refers to must exist.
func TestOwnersReferences(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "owner-references", "", "--controller-id=owner-references")
	ns := w.deployed(t, o, "owner-references")
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"additionalScrapeConfigs":{"name":"login","key":"jobs"}}}`)
	failed := w.reconciled(t, ns, "web", "False", "ReconciliationFailed")
	if text := fmt.Sprint(failed.Object["status"]); !strings.Contains(text, "additionalScrapeConfigs") || !strings.Contains(text, "login") {
		t.Errorf("status %s", text)
	}
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0") // the last valid configuration is kept
	w.apply(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: "+ns+"}\nstringData: {jobs: '- job_name: mine'}")
	w.reconciled(t, ns, "web", "True")
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "mine")
	w.patch(t, "v1", "Secret", ns, "login", `{"stringData":{"jobs":"- job_name: yours"}}`)
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "yours")
	o.settle(t)
}

// event waits for an event about an object.
func (w *environment) event(t *testing.T, namespace, name string) eventsv1.Event {
	t.Helper()
	var out eventsv1.Event
	eventually(t, "an event about "+name, func() error {
		list, err := w.kube.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.Name == name {
				out = e
				return nil
			}
		}
		return fmt.Errorf("none among %d", len(list.Items))
	})
	return out
}

// Invalid objects are rejected individually, whatever the reason.
func TestBadObjectsStandAlone(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "rejected", "", "--controller-id=rejected")
	ns := w.deployed(t, o, "rejected")
	long := strings.Repeat("é", 3000)
	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: bad-relabeling, namespace: NAMESPACE}
spec:
  selector: {}
  endpoints: [{port: http, relabelings: [{action: replace, regex: "([", targetLabel: x}]}]
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: bad-timeout, namespace: NAMESPACE}
spec:
  selector: {}
  podMetricsEndpoints: [{port: http, interval: 10s, scrapeTimeout: 20s}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: bad-expression, namespace: NAMESPACE}
spec:
  groups: [{name: bad, rules: [{record: bad, expr: "sum(`+long+`"}]}]
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: good, namespace: NAMESPACE}
spec:
  selector: {}
  podMetricsEndpoints: [{port: http}]
`, ns, ""))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/good/0")
	for name, action := range map[string]string{
		"bad-relabeling": "SelectingConfigurationResources", "bad-timeout": "SelectingConfigurationResources",
		"bad-expression": "SelectingPrometheusRuleResources",
	} {
		if e := w.event(t, ns, name); e.Action != action || e.Reason != "InvalidConfiguration" {
			t.Errorf("event about %s: %+v", name, e)
		}
	}
	o.settle(t)
	if files := w.ruleFiles(t, ns, "web"); len(files) != 1 {
		t.Errorf("rule files %v", files)
	}
	for kind, want := range map[string][2]float64{"ServiceMonitor": {2, 1}, "PodMonitor": {2, 1}, "PrometheusRule": {2, 1}} {
		for i, state := range []string{"selected", "rejected"} {
			if v, err := o.metric("prometheus_operator_managed_resources", "resource", kind, "state", state); err != nil || v != want[i] {
				t.Errorf("%s %s: %v, %v", kind, state, v, err)
			}
		}
	}
	w.reconciled(t, ns, "web", "True")
}

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// updates returns the number of writes of a user to a resource in a namespace.
func (w *environment) updates(t *testing.T, user, namespace, resource string) (n int) {
	t.Helper()
	for _, c := range w.audit.calls(t, user) {
		if c.writes() && c.Object.Namespace == namespace && c.Object.Resource == resource && c.Object.Subresource == "" && !strings.Contains(c.URI, "dryRun") {
			n++
		}
	}
	return n
}

// Two operators with the same configuration do not fight over workloads that need different fields of a shared Service.
func TestTwoOperatorsOfOneMind(t *testing.T) {
	w := start(t)
	t.Parallel()
	first := w.operator(t, "mind-1", "", "--controller-id=mind")
	second := w.operator(t, "mind-2", "", "--controller-id=mind")
	ns := w.namespace(t)
	w.apply(t, prometheusOnly(ns, "plain", "mind", ""))
	w.apply(t, prometheusOnly(ns, "thanos", "mind", "  thanos: {}\n"))
	w.reconciled(t, ns, "plain", "True")
	w.reconciled(t, ns, "thanos", "True")
	first.settle(t)
	second.settle(t)
	// The concurrent creation costs both some writes, more on a slow machine; then the Service is stable.
	writes := func() int {
		return w.updates(t, first.user, ns, "services") + w.updates(t, second.user, ns, "services")
	}
	before := writes()
	w.apply(t, fill("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: app, namespace: NAMESPACE}\nspec: {selector: {}, endpoints: [{port: http}]}\n", ns, ""))
	for _, name := range []string{"plain", "thanos"} {
		w.jobs(t, ns, name, "serviceMonitor/"+ns+"/app/0")
	}
	first.settle(t)
	second.settle(t)
	if after := writes(); before > 40 || after != before {
		t.Errorf("%d writes of the Service at first, %d after a change that both select", before, after-before)
	}
	if got, err := w.shared(t, ns, "prometheus-operated"); err != nil || !strings.HasPrefix(got, "web grpc; ") {
		t.Errorf("the Service is %s, %v", got, err)
	}
}

// Two operators with different flags undo each other's writes to one Prometheus. They detect the conflict, back off and
// report it; when one is stopped, the other settles.
func TestTwoOperatorsWhoDisagree(t *testing.T) {
	w := start(t)
	t.Parallel()
	first := w.operator(t, "war-1", "", "--controller-id=war", "--prometheus-default-base-image=example.org/one/prometheus")
	ns := w.deployed(t, first, "war")
	second := w.operator(t, "war-2", "", "--controller-id=war", "--prometheus-default-base-image=example.org/two/prometheus")

	p := w.reconciled(t, ns, "web", "False", "WriteConflict")
	const who = `StatefulSet "prometheus-web": another operator with the field manager "PrometheusOperator" has been changing it back since `
	if text := fmt.Sprint(p.Object["status"]); !strings.Contains(text, who) {
		t.Errorf("the status does not say who: %s", text)
	}
	first.tellsOfAConflict(t)
	second.tellsOfAConflict(t)
	eventually(t, "an Event tells of it", func() error {
		for _, e := range w.list(t, "events.k8s.io/v1", "Event", ns) {
			if e.Object["reason"] == "WriteConflict" {
				return nil
			}
		}
		return fmt.Errorf("none does")
	})

	before := w.updates(t, first.user, ns, "statefulsets") + w.updates(t, second.user, ns, "statefulsets")
	time.Sleep(5 * time.Second) // not a wait: the pauses are tested
	after := w.updates(t, first.user, ns, "statefulsets") + w.updates(t, second.user, ns, "statefulsets")
	t.Logf("%d writes until it was noticed, %d in the next 5 s", before, after-before)
	if before > 60 || after-before > 12 {
		t.Errorf("%d writes until it was noticed, %d in the next 5 s", before, after-before)
	}

	second.stop(t)
	set := children0(ns, 6)
	for range 4 { // pauses of this length exceed the timeouts of other tests
		if s, err := w.get(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web"); err == nil && hasCondition(s, "Reconciled", "True") == nil {
			break
		}
		time.Sleep(10 * time.Second)
	}
	w.reconciled(t, ns, "web", "True")
	w.waitFor(t, set, "is as the operator that is left wants it", func(s *unstructured.Unstructured) error {
		if !strings.Contains(fmt.Sprint(s.Object["spec"]), "example.org/one/prometheus:") {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	if v, err := first.metric("prometheus_operator_write_conflicts"); err != nil || v != 0 {
		t.Errorf("prometheus_operator_write_conflicts = %v, %v", v, err)
	}
	if text := first.log.String(); strings.Contains(text, "level=error") {
		t.Errorf("errors in the log: %s", first.log.Brief(logLines))
	}
}

// tellsOfAConflict expects a conflict about the StatefulSet in the metrics and in the log.
func (o *operator) tellsOfAConflict(t *testing.T) {
	t.Helper()
	eventually(t, "both know of it", func() error {
		if v, err := o.metric("prometheus_operator_write_conflicts", "controller", "prometheus"); err != nil || v != 1 {
			return fmt.Errorf("prometheus_operator_write_conflicts = %v, %v", v, err)
		}
		return nil
	})
	if v, err := o.metric("prometheus_operator_overwritten_objects_total", "controller", "prometheus", "kind", "StatefulSet"); err != nil || v < 5 {
		t.Errorf("prometheus_operator_overwritten_objects_total = %v, %v", v, err)
	}
	if n := strings.Count(o.log.String(), "write conflict: another client keeps reverting an object"); n != 1 {
		t.Errorf("told %d times in the log", n)
	}
}

// The worst case of a conflict: different --labels change the selector of the StatefulSet, so that each operator
// deletes it with its pods to create its own.
func TestTwoOperatorsWithOtherSelectors(t *testing.T) {
	w := start(t)
	t.Parallel()
	first := w.operator(t, "selectors-1", "", "--controller-id=selectors", "--labels=team=one")
	ns := w.deployed(t, first, "selectors")
	second := w.operator(t, "selectors-2", "", "--controller-id=selectors", "--labels=team=two")
	recreated := func() float64 {
		sum := 0.0
		for _, o := range []*operator{first, second} {
			v, err := o.metric("prometheus_operator_reconcile_sts_delete_create_total")
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		return sum
	}
	w.waitFor(t, owner(ns, "web"), "says that the StatefulSet is changed back", func(o *unstructured.Unstructured) error {
		text := fmt.Sprint(o.Object["status"])
		if err := hasCondition(o, "Reconciled", "False", "WriteConflict"); err != nil || !strings.Contains(text, `StatefulSet "prometheus-web"`) {
			return fmt.Errorf("status is %s", text)
		}
		return nil
	})
	before := recreated()
	time.Sleep(5 * time.Second) // not a wait: the pauses are tested
	after := recreated()
	t.Logf("recreated %v times until it was noticed, %v in the next 5 s", before, after-before)
	if before > 12 || after-before > 5 {
		t.Errorf("recreated %v times until it was noticed, %v in the next 5 s", before, after-before)
	}
}

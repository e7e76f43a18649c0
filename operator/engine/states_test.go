package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// With a plan without content, the objects that run the pods are still written, the existing
// content stays, pods are not notified, and the condition has the reason.
func TestWithheldContent(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.set(podOf("ruler-a"))
		c := b.start(nil, f)[0]
		b.written()
		hash := c.deliveredHash(catalog.KeyOf(ruler("a")))
		f.plans(func(_ v1.Workload, p *Plan) error {
			p.Content, p.Hash, p.Withheld = nil, "", errors.New("too large")
			return nil
		})
		b.set(rule("more"))
		edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
		b.settle()
		if got := b.written(); !slices.Equal(got, []string{"update statefulsets team/ruler-a"}) && !slices.Equal(got, []string{"patch statefulsets team/ruler-a"}) {
			t.Errorf("wrote %q", got)
		}
		if got := b.config("ruler-a-config"); got != "alerts" || c.deliveredHash(catalog.KeyOf(ruler("a"))) != hash {
			t.Errorf("configuration %q, pods should have %q", got, c.deliveredHash(catalog.KeyOf(ruler("a"))))
		}
		if got := b.condition("a", v1.Reconciled); got != "False ReconciliationFailed too large" {
			t.Errorf("Reconciled %s", got)
		}
		if got := b.bound("more"); got != "thanosrulers/a=True" {
			t.Errorf("bindings %q", got)
		}
		tries := f.of("a")
		b.after(time.Hour)
		if n := f.of("a") - tries; n > 0 {
			t.Errorf("%d reconciliations although nothing changed", n)
		}
		f.plans(nil)
		edit(b, "prometheusrules", "more", func(*v1.PrometheusRule) {})
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts more" || b.condition("a", v1.Reconciled) != "True" {
			t.Errorf("configuration %q, Reconciled %s", got, b.condition("a", v1.Reconciled))
		}
	})
}

// Pods wake a workload only while its plan waits for them.
func TestAwaitedPods(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		awaits := true
		f.plans(func(_ v1.Workload, p *Plan) error { p.AwaitsPods = awaits; return nil })
		b.set(ruler("a"))
		b.set(podOf("ruler-a"))
		b.start(nil, f)
		ip := func(to string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.PodIP = to } }
		before := f.of("a")
		awaits = false
		edit(b, "pods", "ruler-a-0", ip("10.0.0.2"))
		b.settle()
		if n := f.of("a") - before; n != 1 {
			t.Errorf("a pod wakes it %d times", n)
		}
		edit(b, "pods", "ruler-a-0", ip("10.0.0.3"))
		b.settle()
		if n := f.of("a") - before; n != 1 {
			t.Errorf("a pod wakes it %d times more, although it waits for none", n-1)
		}
	})
}

func managedBy(id string) func(*v1.ThanosRuler) {
	return func(w *v1.ThanosRuler) { w.Annotations[ControllerIDAnnotation] = id }
}

// Another operator's workload is left unchanged, even if it was ours before, and adopted when it
// becomes ours.
func TestAWorkloadOfAnotherOperator(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a", managedBy("other")))
		c := b.start(nil, f)[0]
		b.after(10 * time.Minute)
		if got := b.written(""); len(got) > 0 || f.of("a") > 0 {
			t.Errorf("wrote %q, gathered %d times", got, f.of("a"))
		}
		edit(b, "thanosrulers", "a", managedBy(""))
		b.settle()
		if got := b.condition("a", v1.Reconciled); got != "True" || f.gatherers("a") != 1 {
			t.Errorf("ours: Reconciled %s, %d gatherers", got, f.gatherers("a"))
		}
		edit(b, "thanosrulers", "a", managedBy("other"))
		b.settle()
		b.written("")
		b.set(rule("more"))
		b.gone(secretOf("ruler-a-config", ""))
		b.after(10 * time.Minute)
		if got := b.written(""); len(got) > 0 || len(c.memory) > 0 || f.gatherers("a") != 0 {
			t.Errorf("another's: wrote %q, %d workloads are remembered, %d gatherers", got, len(c.memory), f.gatherers("a"))
		}
	})
}

// A paused workload gets its finalizer and its status, and nothing else.
func TestAPausedWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Spec.Paused = true }))
		b.start(nil, f)
		b.set(rule("more"))
		b.settle()
		if got := b.written(); len(got) > 0 || f.of("a") > 0 {
			t.Errorf("wrote %q, gathered %d times", got, f.of("a"))
		}
		if w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a"); !w.Status.Paused {
			t.Error("the status does not say so")
		}
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.Paused = false })
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts more" {
			t.Errorf("configuration %q afterwards", got)
		}
	})
}

// A pod that blocks a rollout is removed, unless the workload is paused.
func TestAPausedWorkloadIsNotRepaired(t *testing.T) {
	for name, paused := range map[string]bool{"paused": true, "not paused": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.repair = rollout.RepairDelete
				b.set(ruler("a"))
				b.start(nil, f)
				edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.Paused = paused })
				b.settle()
				edit(b, "statefulsets", "ruler-a", func(s *appsv1.StatefulSet) {
					s.Status = appsv1.StatefulSetStatus{ObservedGeneration: s.Generation, CurrentRevision: "old", UpdateRevision: "new"}
				})
				b.settle()
				b.written()
				stuck := podOf("ruler-a")
				stuck.Status.Conditions = nil
				stuck.Labels[appsv1.ControllerRevisionHashLabelKey] = "between"
				b.set(stuck)
				b.after(10 * time.Minute)
				if got := b.written(); slices.Contains(got, "delete pods team/"+stuck.Name) == paused {
					t.Errorf("wrote %q", got)
				}
			})
		})
	}
}

// In a namespace that is being deleted only statuses are written, and rejected objects are not
// reported: their references may already be deleted.
func TestATerminatingNamespace(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.start(nil, f)
		b.written()
		b.set(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", DeletionTimestamp: new(metav1.Now())}})
		b.settle()
		for _, name := range []string{"ruler-a-config", "ruler-a-web"} {
			b.gone(secretOf(name, ""))
		}
		b.set(rule("alerts", "bad", "broken"))
		b.after(10 * time.Minute)
		if got := b.written(); len(got) > 0 {
			t.Errorf("wrote %q", got)
		}
		if got := b.condition("a", v1.Reconciled); got != `False NamespaceTerminating namespace "team" is being deleted` {
			t.Errorf("Reconciled %s", got)
		}
		if strings.Contains(b.log.String(), "object is rejected") || strings.Contains(b.log.String(), "failed") {
			t.Errorf("log:\n%s", b.log)
		}
	})
}

// Rejected objects are reported once for each reason, and the others are used.
func TestRejectedObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(rule("bad", "bad", "broken"))
		b.set(ruler("a"))
		b.start(nil, f)
		b.set(rule("more"))
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts more" || b.bound("bad") != "thanosrulers/a=False" {
			t.Errorf("configuration %q, bindings %q", got, b.bound("bad"))
		}
		told := func() int { return strings.Count(b.log.String(), "object is rejected") }
		if n := told(); n != 1 {
			t.Errorf("told %d times", n)
		}
		edit(b, "prometheusrules", "bad", func(r *v1.PrometheusRule) { r.Labels["bad"] = "wrong" })
		b.settle()
		edit(b, "prometheusrules", "bad", func(r *v1.PrometheusRule) { delete(r.Labels, "bad") })
		b.settle()
		if n := told(); n != 2 || b.bound("bad") != "thanosrulers/a=True" || b.config("ruler-a-config") != "alerts bad more" {
			t.Errorf("told %d times, bindings %q, configuration %q", n, b.bound("bad"), b.config("ruler-a-config"))
		}
	})
}

// Thousands of objects that are rejected at once do not flood the log.
func TestManyRejectedObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range 3 * loggedRejections {
			b.set(rule(fmt.Sprint("bad-", i), "bad", "broken"))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.settle()
		log := b.log.String()
		if n := strings.Count(log, "object is rejected"); n != loggedRejections || !strings.Contains(log, fmt.Sprint("objects=", 2*loggedRejections)) {
			t.Errorf("%d objects are logged", n)
		}
	})
}

// Another client that keeps reverting an object is named, and the operator backs off.
func TestAWriteConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.start(nil, f)
		b.written()
		for range 20 {
			edit(b, "secrets", "ruler-a-config", func(s *corev1.Secret) { s.Labels["name"] = "mine" })
			b.settle()
		}
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, `False WriteConflict Secret "ruler-a-config": `) {
			t.Errorf("Reconciled %s", got)
		}
		if n := len(b.written()); n > 12 {
			t.Errorf("%d writes against 20 changes", n)
		}
		b.after(time.Hour)
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "True") {
			t.Errorf("Reconciled %s when it is over", got)
		}
		if s, _ := get[corev1.Secret](b, "secrets", "ruler-a-config"); s.Labels["name"] != "a" {
			t.Errorf("labels %v", s.Labels)
		}
	})
}

// A panic caused by one object in an event handler, a poll or a scrape does not affect the others,
// nor does it crash the operator.
func TestAPanicStaysWithItsWorkload(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		shape := f.Shape
		f.Shape = func(w v1.Workload) Shape {
			if w.GetName() == "bad" {
				panic("of its shape")
			}
			return shape(w)
		}
		f.Gauges = []Gauge{{Name: "test_gauge", Help: "For the test.", Value: func(w v1.Workload) (float64, bool) {
			if w.GetName() == "bad" {
				panic("of its gauge")
			}
			return 1, true
		}}}
		b.set(rule("alerts"))
		elsewhere := func(w *v1.ThanosRuler) { w.Namespace = "other" }
		b.set(ruler("bad", elsewhere))
		b.set(ruler("good"))
		c := b.start(nil, f)[0]
		b.set(ruler("bad", elsewhere, func(w *v1.ThanosRuler) { w.Generation = 2 }))
		b.set(rule("more"))
		b.after(3 * time.Minute)
		if got := b.config("ruler-good-config"); got != "alerts more" {
			t.Errorf("configuration %q", got)
		}
		c.stores.unsettled()
		if _, err := c.stores.governing(t.Context(), f.Names.OperatedLabel); err != nil {
			t.Error(err)
		}
		values := make(chan prometheus.Metric, 10)
		gaugeCollector{f.Gauges, c.stores.workloads}.Collect(values)
		if len(values) != 1 {
			t.Errorf("%d values", len(values))
		}
		if !strings.Contains(b.log.String(), "of its shape") {
			t.Errorf("log:\n%s", b.log)
		}
	})
}

// TestContentThatKeepsVanishing: while a Secret of the pods is missing because another client keeps
// deleting it, no rollout replaces running pods by ones that cannot start.
func TestContentThatKeepsVanishing(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a"))
		b.start(nil, f)
		there := func() bool {
			_, there := get[corev1.Secret](b, "secrets", "ruler-a-config")
			return there
		}
		for missing := 0; missing < 7; b.settle() { // until the pauses are a minute
			if missing++; there() {
				b.gone(secretOf("ruler-a-config", ""))
				missing = 0
			}
		}
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, `False WriteConflict Secret "ruler-a-config": another client that deletes it`) {
			t.Errorf("Reconciled %s", got)
		}
		generation := func() string {
			s, _ := get[appsv1.StatefulSet](b, "statefulsets", "ruler-a")
			return s.Spec.Template.Labels["generation"]
		}
		before := generation()
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Generation = 7 })
		b.settle()
		if there() {
			t.Fatal("the Secret is there, which shows nothing")
		}
		if got := generation(); got != before {
			t.Errorf("the template is that of generation %s, without the Secret", got)
		}
		b.after(time.Hour)
		if got := generation(); got != "7" {
			t.Errorf("the template is that of generation %s when the Secret is there", got)
		}
	})
}

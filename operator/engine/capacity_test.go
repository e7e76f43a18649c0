package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// large sets the size of a rule in KiB.
func large(r *v1.PrometheusRule, kib int) *v1.PrometheusRule {
	r.Spec.Groups = []v1.RuleGroup{{Name: strings.Repeat("x", kib<<10)}}
	return r
}

// TestRulesBeyondTheRoom: an object that exceeds the capacity is rejected, with the reason in its
// own status, and accepted once there is room.
func TestRulesBeyondTheRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.room = 1 << 20 // half of it for compiled results
		b.set(large(rule("one"), 250))
		b.set(large(rule("two"), 300))
		b.set(rule("small"))
		b.set(ruler("a"))
		b.start(nil, f)
		if got := b.bound("two"); got != "thanosrulers/a=False" {
			t.Errorf("bindings of what does not fit: %q", got)
		}
		if got := b.bound("one") + " " + b.bound("small"); got != "thanosrulers/a=True thanosrulers/a=True" {
			t.Errorf("bindings of what fits: %q", got)
		}
		if log := b.log.String(); !strings.Contains(log, "object is rejected") || !strings.Contains(log, "the operator holds at most 1") {
			t.Errorf("log: %s", log)
		}
		before := f.of("a")
		b.after(time.Hour)
		if n := f.of("a") - before; n > 0 {
			t.Errorf("%d reconciliations although nothing changed", n)
		}
		b.deleted(rule("one"))
		b.after(time.Minute)
		if got := b.bound("two"); got != "thanosrulers/a=True" {
			t.Errorf("bindings with room: %q", got)
		}
		b.set(large(rule("three"), 280))
		b.settle()
		if got := b.bound("two") + " " + b.bound("three"); got != "thanosrulers/a=False thanosrulers/a=True" {
			t.Errorf("bindings without room: %q", got)
		}
	})
}

// TestWorkloadBeyondTheRoom: the written objects of a workload that exceeds the capacity stay
// unchanged, and its status has the reason.
func TestWorkloadBeyondTheRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.room = 512 << 10
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.set(podOf("ruler-a"))
		b.start(nil, f)
		b.written()
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.AlertQueryURL = strings.Repeat("x", 600<<10) })
		b.settle()
		b.set(rule("more"))
		b.after(time.Hour)
		if got := b.written(); len(got) > 0 {
			t.Errorf("wrote %q", got)
		}
		if got := b.config("ruler-a-config"); got != "alerts" {
			t.Errorf("configuration %q", got)
		}
		if got := b.condition("a", v1.Reconciled); !strings.HasPrefix(got, "False ReconciliationFailed nothing is changed until the object is in memory: the operator holds at most 512 KiB") {
			t.Errorf("Reconciled %s", got)
		}
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.AlertQueryURL = "" })
		b.settle()
		if got := b.config("ruler-a-config"); got != "alerts more" || b.condition("a", v1.Reconciled) != "True" {
			t.Errorf("configuration %q, Reconciled %s", got, b.condition("a", v1.Reconciled))
		}
	})
}

// TestSelectionsCount: a workload is charged for the objects that it selects.
func TestSelectionsCount(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		const rules = 50
		for i := range rules {
			b.set(rule(fmt.Sprint("r", i)))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.settle()
		before, _ := b.sources.stored.Held()
		b.set(ruler("b"))
		b.settle()
		with, _ := b.sources.stored.Held()
		b.deleted(ruler("b"))
		b.settle()
		after, _ := b.sources.stored.Held()
		if with-before < rules*budget.SelectionBytes || after != before {
			t.Errorf("%d bytes, with a workload that selects %d objects %d, without it %d", before, rules, with, after)
		}
	})
}

package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// held reports whether a ThanosRuler has the finalizer.
func (b *harness) held(name string) bool {
	w, _ := get[v1.ThanosRuler](b, "thanosrulers", name)
	return slices.Contains(w.Finalizers, statusFinalizer)
}

// bindingWrites counts the writes of statuses of rules and of workloads' finalizers since the last call.
func (b *harness) bindingWrites() int {
	return len(slices.DeleteFunc(b.written("prometheusrules/status", "patch thanosrulers team/"), func(w string) bool {
		return !strings.Contains(w, "prometheusrules/status") && !strings.HasPrefix(w, "patch thanosrulers team/")
	}))
}

// A workload that another operator takes over, which does not know of bindings or does not exist, is removed from the
// statuses and can be deleted.
func TestHandover(t *testing.T) {
	for name, over := range map[string]func(*v1.ThanosRuler){
		"to another operator":              managedBy("other"),
		"to another operator, in deletion": func(w *v1.ThanosRuler) { managedBy("other")(w); w.DeletionTimestamp = new(metav1.Now()) },
		"by its labels":                    func(w *v1.ThanosRuler) { w.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				for i := range 2 * bindTurn {
					b.set(rule(fmt.Sprintf("alerts-%03d", i)))
				}
				b.set(ruler("a", func(w *v1.ThanosRuler) { w.Labels = map[string]string{"by": "us"} }))
				b.set(ruler("b", func(w *v1.ThanosRuler) { w.Labels = map[string]string{"by": "us"} }))
				b.labels = "by=us"
				c := b.start(nil, f)[0]
				b.after(time.Minute)
				if b.bound("alerts-007") != "thanosrulers/a=True thanosrulers/b=True" || !b.held("a") {
					t.Fatalf("before: bindings %q, finalizer %t", b.bound("alerts-007"), b.held("a"))
				}
				edit(b, "thanosrulers", "a", over)
				b.after(time.Minute)
				for i := range 2 * bindTurn {
					if got := b.bound(fmt.Sprintf("alerts-%03d", i)); got != "thanosrulers/b=True" {
						t.Fatalf("alerts-%03d has the bindings %q", i, got)
					}
				}
				if b.held("a") || len(c.bindings.handovers)+len(c.bindings.releases) > 0 {
					t.Errorf("finalizer %t, %d handovers and %d releases are remembered", b.held("a"), len(c.bindings.handovers), len(c.bindings.releases))
				}
			})
		})
	}
}

// The other operator writes bindings too: both come to rest, with the bindings and the finalizer of the workload.
func TestHandoverToOneWithBindings(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		for i := range 20 {
			b.set(rule(fmt.Sprintf("alerts-%02d", i)))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.id = "other"
		b.start(nil, newFake(catalog.ThanosRuler, "ruler"))
		for _, id := range []string{"other", "", "other"} {
			edit(b, "thanosrulers", "a", managedBy(id))
			b.after(time.Minute)
			for i := range 20 {
				if got := b.bound(fmt.Sprintf("alerts-%02d", i)); got != "thanosrulers/a=True" {
					t.Fatalf("managed by %q: alerts-%02d has the bindings %q", id, i, got)
				}
			}
			if !b.held("a") {
				t.Errorf("managed by %q: no finalizer", id)
			}
			b.bindingWrites()
			b.after(time.Hour)
			if n := b.bindingWrites(); n > 0 {
				t.Errorf("managed by %q: %d writes although nothing changed", id, n)
			}
		}
		b.deleted(ruler("a"))
		b.after(time.Minute)
		if _, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there || b.bound("alerts-00") != "" {
			t.Errorf("after the deletion: there %t, bindings %q", there, b.bound("alerts-00"))
		}
	})
}

// What the API server refuses during a handover is tried again, but not what the other operator has written meanwhile.
func TestHandoverThatIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("good"))
		b.set(rule("refused"))
		b.set(ruler("a"))
		b.start(nil, f)
		b.settle()
		var refuses atomic.Bool
		refuses.Store(true)
		b.answers(func(c call) *metav1.Status {
			if c.isStatus() && c.name == "refused" && refuses.Load() {
				return denial(http.StatusForbidden)
			}
			return nil
		})
		binding := func() []v1.WorkloadBinding {
			r, _ := get[v1.PrometheusRule](b, "prometheusrules", "good")
			return r.Status.Bindings
		}
		before := binding()
		edit(b, "thanosrulers", "a", managedBy("other"))
		b.after(time.Second)
		if len(before) != 1 || len(binding()) != 0 || b.bound("refused") == "" || !b.held("a") {
			t.Errorf("bindings %q, %q, finalizer %t", b.bound("good"), b.bound("refused"), b.held("a"))
		}
		edit(b, "prometheusrules", "good", func(r *v1.PrometheusRule) { r.Status.Bindings = before })
		b.after(10 * time.Second)
		refuses.Store(false)
		b.after(time.Minute)
		if len(binding()) != 1 || b.bound("refused") != "" || b.held("a") {
			t.Errorf("then bindings %q, %q, finalizer %t", b.bound("good"), b.bound("refused"), b.held("a"))
		}
	})
}

// A standby that leads later, and an operator without bindings, leave workloads of others alone.
func TestHandoverThatIsNotOurs(t *testing.T) {
	for name, unbound := range map[string]bool{"a standby": false, "no bindings": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(rule("alerts"))
				b.set(ruler("a"))
				b.start(nil, f)
				b.stop()
				leads := make(chan struct{})
				if b.unbound = unbound; !unbound {
					b.lead = func(ctx context.Context) bool {
						select {
						case <-leads:
							return true
						case <-ctx.Done():
							return false
						}
					}
				}
				b.start(nil, newFake(catalog.ThanosRuler, "ruler"))
				edit(b, "thanosrulers", "a", managedBy("other"))
				b.settle()
				close(leads)
				b.after(time.Hour)
				if b.bound("alerts") != "thanosrulers/a=True" || !b.held("a") {
					t.Errorf("bindings %q, finalizer %t", b.bound("alerts"), b.held("a"))
				}
			})
		})
	}
}

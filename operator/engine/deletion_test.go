package engine

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A workload is deleted at some step of its reconciliation: objects written afterwards are garbage
// collected, nothing is written once the deletion is detected, bindings and the finalizer are
// removed, and no state is left.
func TestDeletionAtEachStep(t *testing.T) {
	before := func(prefix string) func(b *harness, f *fakeKind, remove func()) {
		return func(b *harness, _ *fakeKind, remove func()) {
			b.answers(func(c call) *metav1.Status {
				if strings.HasPrefix(c.String(), prefix) {
					remove()
				}
				return nil
			})
		}
	}
	for name, arm := range map[string]func(b *harness, f *fakeKind, remove func()){
		"before its finalizer is there": before("patch thanosrulers team"),
		"while it is gathered": func(_ *harness, f *fakeKind, remove func()) {
			f.gathers(func(v1.Workload, Cluster) error { remove(); return nil })
		},
		"before content is written": func(_ *harness, f *fakeKind, remove func()) {
			f.plans(func(v1.Workload, *Plan) error { remove(); return nil })
		},
		"while content is written":           before("create secrets team/ruler-a-web"),
		"after content was written":          before("create services"),
		"before the StatefulSet is written":  before("create statefulsets"),
		"before the status is written":       before("patch thanosrulers/status"),
		"before the first binding":           before("update prometheusrules/status"),
		"before the first binding, by steps": before("patch prometheusrules/status"),
		"when all is done":                   func(b *harness, _ *fakeKind, remove func()) { time.AfterFunc(time.Second, remove) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(rule("alerts"))
				b.set(ruler("a"))
				var removed atomic.Bool
				arm(b, f, func() {
					if removed.CompareAndSwap(false, true) {
						b.deleted(ruler("a"))
						time.Sleep(100 * time.Millisecond) // the deletion is detected during the step
					}
				})
				c := b.start(nil, f)[0]
				if !removed.Load() && !strings.Contains(name, "first binding") {
					t.Fatal("the step was not reached")
				}
				if !removed.Load() {
					return // bindings are written with the other verb
				}
				b.answers(nil)
				b.after(time.Minute)
				if all := b.written(""); name == "while content is written" && slices.ContainsFunc(all, func(c string) bool { return strings.Contains(c, "create statefulsets") }) {
					t.Errorf("a StatefulSet was created after the deletion: %q", all)
				}
				// The garbage collector deletes the owned objects; its events must not cause writes.
				for _, name := range []string{"ruler-a-config", "ruler-a-web"} {
					if _, there := get[corev1.Secret](b, "secrets", name); there {
						b.gone(secretOf(name, ""))
					}
				}
				if sts, there := get[appsv1.StatefulSet](b, "statefulsets", "ruler-a"); there {
					b.gone(&sts)
				}
				b.after(10 * time.Minute)
				if late := b.written(""); len(late) > 0 {
					t.Errorf("wrote %q after the deletion", late)
				}
				if w, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there {
					t.Errorf("the workload stays, with finalizers %v", w.Finalizers)
				}
				if got := b.bound("alerts"); got != "" {
					t.Errorf("bindings %q", got)
				}
				if len(c.memory) > 0 || f.gatherers("a") != 0 || c.index.Len() > 0 {
					t.Errorf("%d workloads are remembered, %d gatherers open, %d in the index", len(c.memory), f.gatherers("a"), c.index.Len())
				}
				if _, known := c.loop.Result(catalog.KeyOf(ruler("a"))); known {
					t.Error("its last result is remembered")
				}
			})
		})
	}
}

// A foreign finalizer keeps a deleted workload for a while: it is left unchanged.
func TestAWorkloadThatIsBeingDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Finalizers = []string{"example.org/mine"} }))
		b.start(nil, f)
		b.deleted(ruler("a"))
		b.settle()
		b.written("")
		b.gone(secretOf("ruler-a-config", ""))
		b.set(rule("more"))
		b.after(10 * time.Minute)
		if got := b.written(""); len(got) > 0 {
			t.Errorf("wrote %q", got)
		}
		w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
		if !slices.Equal(w.Finalizers, []string{"example.org/mine"}) || b.bound("alerts") != "" {
			t.Errorf("finalizers %v, bindings %q", w.Finalizers, b.bound("alerts"))
		}
	})
}

// The finalizer stays until the bindings have been removed.
func TestTheFinalizerStaysUntilBindingsAreGone(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.start(nil, f)
		b.answers(refuseBindings)
		b.deleted(ruler("a"))
		b.after(10 * time.Minute)
		if w, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); !there || !slices.Contains(w.Finalizers, statusFinalizer) || b.bound("alerts") == "" {
			t.Errorf("there %t, finalizers %v, bindings %q", there, w.Finalizers, b.bound("alerts"))
		}
		b.answers(nil)
		b.after(10 * time.Minute)
		if _, there := get[v1.ThanosRuler](b, "thanosrulers", "a"); there || b.bound("alerts") != "" {
			t.Errorf("there %t, bindings %q", there, b.bound("alerts"))
		}
	})
}

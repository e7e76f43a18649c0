package engine

import (
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Compiling ahead covers only the workloads that will be reconciled, and a panic in it has no
// further effect.
func TestCompilingAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var mu sync.Mutex
		compiled := map[string]int{}
		f.Ahead = &Ahead{Of: catalog.PrometheusRule, Compile: func(w v1.Workload, c Cluster) {
			mu.Lock()
			defer mu.Unlock()
			for range c.Objects(v1.PrometheusRuleKind) {
				compiled[w.GetName()]++
			}
			panic("in " + w.GetName())
		}}
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.set(ruler("paused", func(w *v1.ThanosRuler) { w.Spec.Paused = true }))
		b.set(ruler("other", managedBy("other")))
		b.set(ruler("going", func(w *v1.ThanosRuler) {
			w.Finalizers, w.DeletionTimestamp = []string{"x/y"}, new(metav1.NewTime(time.Now()))
		}))
		b.start(nil, f)
		mu.Lock()
		defer mu.Unlock()
		if len(compiled) != 1 || compiled["a"] != 1 {
			t.Errorf("compiled %v, want the one rule of a", compiled)
		}
		if got := b.condition("a", v1.Reconciled); got != "True" || !strings.Contains(b.log.String(), `action="compile ahead for `) {
			t.Errorf("Reconciled %s, log:\n%s", got, b.log)
		}
	})
}

// Results compiled ahead for a workload that is deleted before its first reconciliation are dropped too.
func TestForgettingWhatIsCompiledAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var mu sync.Mutex
		kept := map[string]bool{}
		f.Ahead = &Ahead{Of: catalog.PrometheusRule, Compile: func(w v1.Workload, _ Cluster) {
			mu.Lock()
			defer mu.Unlock()
			kept[w.GetName()] = true
		}}
		open := f.Open
		f.Open = func(key types.NamespacedName) Gatherer {
			return closing{open(key), func() {
				mu.Lock()
				defer mu.Unlock()
				delete(kept, key.Name)
			}}
		}
		b.set(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", DeletionTimestamp: new(metav1.Now())}})
		b.set(ruler("a"))
		b.start(nil, f)
		mu.Lock()
		ahead := kept["a"]
		mu.Unlock()
		b.gone(ruler("a"))
		b.settle()
		mu.Lock()
		defer mu.Unlock()
		if !ahead || f.of("a") != 0 || len(kept) != 0 {
			t.Errorf("compiled ahead: %v, gathered %d times, kept at the end: %v", ahead, f.of("a"), kept)
		}
	})
}

// closing is a gatherer that calls closed on Close.
type closing struct {
	Gatherer
	closed func()
}

func (c closing) Close() { c.Gatherer.Close(); c.closed() }

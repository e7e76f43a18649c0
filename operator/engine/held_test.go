package engine

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// TestHeld: the largest workloads of the namespace that holds most are evicted, independent of the
// order in which they were set.
func TestHeld(t *testing.T) {
	c := &Controller{kind: &Kind{Row: catalog.ThanosRuler}}
	of := func(namespace, name string) holder {
		return holder{c, types.NamespacedName{Namespace: namespace, Name: name}}
	}
	h := held{ledger: share.Ledger[holder]{Room: 100}}
	dropped := func(who holder, bytes int) string {
		var out []string
		for _, each := range h.set(who, bytes) {
			out = append(out, each.NamespacedName.String())
			h.set(each, 0)
		}
		return strings.Join(out, " ")
	}
	for _, step := range []struct {
		who   holder
		bytes int
		want  string
	}{
		{of("hostile", "a"), 40, ""},
		{of("hostile", "b"), 50, ""},
		{of("good", "main"), 30, "hostile/b"},
		{of("hostile", "b"), 50, "hostile/b"},
		{of("good", "main"), 35, ""},
		{of("hostile", "c"), 24, ""},
		{of("hostile", "d"), 2, "hostile/a"},
		{of("good", "main"), 0, ""},
		{of("hostile", "e"), 74, ""},
	} {
		if got := dropped(step.who, step.bytes); got != step.want {
			t.Errorf("%s with %d bytes: %q drop what they hold, want %q", step.who.NamespacedName, step.bytes, got, step.want)
		}
	}
}

// TestWhatIsCompiledFits: a workload whose compiled results are too large is recompiled each time,
// after a pause, and other workloads keep theirs.
func TestWhatIsCompiledFits(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		f.holds = map[string]int{"small": 1000, "large": 5000}
		b.set(rule("alerts"))
		b.set(ruler("small"))
		b.set(ruler("large"))
		b.start(nil, f)
		b.sources.held.mu.Lock()
		b.sources.held.ledger.Room = 5500
		b.sources.held.mu.Unlock()
		opened := func(name string) int {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.opened[name]
		}
		small, large := opened("small"), opened("large")
		for range 3 {
			edit(b, "thanosrulers", "large", func(w *v1.ThanosRuler) { w.Spec.AlertQueryURL += "x" })
			edit(b, "thanosrulers", "small", func(w *v1.ThanosRuler) { w.Spec.AlertQueryURL += "x" })
			b.after(time.Minute)
		}
		if n := opened("large") - large; n < 3 {
			t.Errorf("the large workload began afresh %d times", n)
		}
		if n := opened("small") - small; n != 0 {
			t.Errorf("the small workload began afresh %d times", n)
		}
		if n := f.gatherers("small") + f.gatherers("large"); n != 2 {
			t.Errorf("%d gatherers are open", n)
		}
		if n := strings.Count(b.log.String(), "what was compiled for this workload is not kept"); n != 1 {
			t.Errorf("the log says it %d times: %s", n, b.log.String())
		}
		if got := b.config("ruler-large-config"); got != "alerts" {
			t.Errorf("configuration %q", got)
		}
		// The pause is ten times the duration of the compilation.
		f.gathers(func(w v1.Workload, _ Cluster) error {
			if w.GetName() == "large" {
				time.Sleep(time.Second)
			}
			return nil
		})
		before := f.of("large")
		for range 20 {
			b.set(rule("alerts"))
			b.after(time.Second)
		}
		if n := f.of("large") - before; n > 3 {
			t.Errorf("compiled %d times in 20 s, each takes 1 s", n)
		}
	})
}

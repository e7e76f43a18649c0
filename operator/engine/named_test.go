package engine

import (
	"testing"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A named object is not selected; its creation, changes and deletion wake the workload.
func TestNamedObject(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["base"] = "base" }))
		b.set(rule("base"))
		b.set(rule("other"))
		b.start(nil, f)
		check := func(when, want string) {
			t.Helper()
			b.settle()
			if got := b.config("ruler-a-config"); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		check("at the start", "base=base/1 other")
		edit(b, "prometheusrules", "base", func(*v1.PrometheusRule) {})
		check("after a change", "base=base/2 other")
		before := f.of("a")
		edit(b, "prometheusrules", "other", func(*v1.PrometheusRule) {})
		b.gone(rule("base"))
		check("after its deletion", "other")
		b.set(rule("base"))
		check("when it is there again", "base=base/1 other")
		if f.of("a") == before {
			t.Error("nothing woke the workload")
		}
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { delete(w.Annotations, "base") })
		check("when it is not named any more", "base other")
	})
}

// A named object in an unwatched namespace is read from the API server periodically, as its changes
// trigger no event.
func TestNamedObjectThatIsNotWatched(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.configs = []string{"elsewhere"}
		b.set(ruler("a", func(w *v1.ThanosRuler) { w.Annotations["base"] = "base" }))
		b.set(rule("base"))
		b.set(rule("other"))
		b.start(nil, f)
		check := func(when, want string) {
			t.Helper()
			if got := b.config("ruler-a-config"); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		reads := func() (n int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, c := range b.asked {
				if c == "get prometheusrules team/base" {
					n++
				}
			}
			return n
		}
		check("at the start", "base=base/1")
		before := reads()
		for range 10 {
			edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
			b.after(time.Second)
		}
		if n := reads() - before; n > 0 {
			t.Errorf("read %d times in ten seconds", n)
		}
		edit(b, "prometheusrules", "base", func(*v1.PrometheusRule) {})
		b.after(namedPeriod + 2*recheckPeriod)
		check("after a change", "base=base/2")
		b.gone(rule("base"))
		b.after(namedPeriod + 2*recheckPeriod)
		check("after its deletion", "")
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { delete(w.Annotations, "base") })
		b.settle()
		before = reads()
		b.after(time.Hour)
		if n := reads() - before; n > 0 {
			t.Errorf("read %d times though nothing names it", n)
		}
	})
}

package engine

import (
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A change of what some workloads read besides the cluster wakes exactly these, once.
func TestOutside(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var version atomic.Pointer[string]
		version.Store(new("missing"))
		f.Outside = &Outside{
			Version: func() string { return *version.Load() },
			Reads:   func(w v1.Workload) bool { return w.GetName() != "b" },
		}
		b.set(ruler("a"))
		b.set(ruler("b"))
		b.start(nil, f)
		check := func(when string, want int) {
			t.Helper()
			a, other := f.of("a"), f.of("b")
			b.after(time.Hour)
			if got := f.of("a") - a; got != want {
				t.Errorf("%s: %d reconciliations, want %d", when, got, want)
			}
			if got := f.of("b") - other; got != 0 {
				t.Errorf("%s: %d reconciliations of a workload that does not read it", when, got)
			}
		}
		check("unchanged", 0)
		version.Store(new("first"))
		check("once it exists", 1)
		version.Store(new("second"))
		check("after a change", 1)
	})
}

// A change after the first reconciliation is noticed, however soon it is.
func TestOutsideChangesAtTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var version atomic.Pointer[string]
		version.Store(new("missing"))
		f.Outside = &Outside{Version: func() string { return *version.Load() }, Reads: func(v1.Workload) bool { return true }}
		f.gathers(func(v1.Workload, Cluster) error {
			version.Store(new("first"))
			return nil
		})
		b.set(ruler("a"))
		b.start(nil, f)
		before := f.of("a")
		b.after(2 * recheckPeriod)
		if n := f.of("a") - before; n != 1 {
			t.Errorf("%d reconciliations, want 1", n)
		}
	})
}

package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// One Secret that sixty objects of a megabyte refer to changes every second. The first results are compiled again at once,
// the others at a rate, and other namespaces have their own.
func TestRenewals(t *testing.T) {
	var r renewals
	start := time.Unix(0, 0)
	renewed := 0
	const passes = 120
	for second := range passes {
		now := start.Add(time.Duration(second) * time.Second)
		r.begin(now)
		here := 0
		for range 60 {
			if r.take("hostile", 1<<20, now) {
				here++
			}
		}
		if most := renewedBurst >> 20; second == 0 && here != most || here > most || here == 0 {
			t.Errorf("second %d: %d results", second, here)
		}
		if r.wait < time.Second || r.wait > 2*time.Second {
			t.Errorf("second %d: continues after %v", second, r.wait)
		}
		if !r.take("good", 1<<20, now) {
			t.Errorf("second %d: another namespace waits", second)
		}
		renewed += here
	}
	if most := renewedBurst>>20 + passes; renewed > most {
		t.Errorf("%d results in %d seconds", renewed, passes)
	}
	r.begin(start.Add(time.Hour))
	if len(r.full) != 0 || r.wait != 0 {
		t.Errorf("%d namespaces are remembered", len(r.full))
	}
}

// What is postponed is done without another event.
func TestPostponedResultsAreRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var mu sync.Mutex
		stale := 0 // results of a megabyte each that refer to an old Secret
		var renewed []int
		now := func() (int, []int) {
			mu.Lock()
			defer mu.Unlock()
			return stale, slices.Clone(renewed)
		}
		f.gathers(func(_ v1.Workload, c Cluster) error {
			mu.Lock()
			defer mu.Unlock()
			before := stale
			for range before {
				old := []assets.Dependency{{Ref: assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "login"}, Version: "old"}}
				if !c.Stands(old, 1<<20) {
					stale--
				}
			}
			renewed = append(renewed, before-stale)
			return nil
		})
		b.set(ruler("a"))
		b.start(nil, f)
		mu.Lock()
		stale, renewed = 30, nil
		mu.Unlock()
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Spec.Image = "b" })
		b.settle()
		if left, steps := now(); left == 0 || len(steps) == 0 || steps[0] != renewedBurst>>20 {
			t.Errorf("renewed %v, %d are left", steps, left)
		}
		b.after(time.Minute)
		if left, steps := now(); left != 0 || slices.Max(steps) > renewedBurst>>20 {
			t.Errorf("renewed %v, %d are left after a minute", steps, left)
		}
	})
}

// References that are postponed are read without another event.
func TestPostponedReferencesAreRead(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		var mu sync.Mutex
		var postponed []int
		f.gathers(func(_ v1.Workload, c Cluster) error {
			left := 0
			for i := range 300 {
				if _, err := c.Paced.Object(assets.Ref{Kind: assets.Secret, Namespace: "team", Name: fmt.Sprint("s", i)}); assets.IsPostponed(err) {
					left++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			postponed = append(postponed, left)
			return nil
		})
		for i := range 300 {
			b.set(secretOf(fmt.Sprint("s", i), "x"))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.after(5 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if len(postponed) < 2 || postponed[0] == 0 || postponed[len(postponed)-1] != 0 {
			t.Errorf("%d are left in each reconciliation", postponed)
		}
	})
}

// Secrets that change all the time do not fill the log.
func TestPostponedReferencesAreLoggedNowAndThen(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		n := 0
		f.gathers(func(_ v1.Workload, c Cluster) error {
			for range 300 {
				n++
				_, _ = c.Paced.Object(assets.Ref{Kind: assets.Secret, Namespace: "team", Name: fmt.Sprint("s", n)})
			}
			return nil
		})
		for i := range 10_000 {
			b.set(secretOf(fmt.Sprint("s", i), "x"))
		}
		b.set(ruler("a"))
		b.start(nil, f)
		b.after(30 * time.Second)
		if lines := strings.Count(b.log.String(), "some are updated later"); lines != 1 {
			t.Errorf("%d lines in half a minute", lines)
		}
	})
}

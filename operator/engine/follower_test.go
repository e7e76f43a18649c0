package engine

import (
	"context"
	"strings"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestFollower: an operator without the lead observes all changes but writes nothing. Once it
// leads, it catches up.
func TestFollower(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		leads := make(chan struct{})
		b.lead = func(ctx context.Context) bool {
			select {
			case <-leads:
				return true
			case <-ctx.Done():
				return false
			}
		}
		b.set(ruler("a"))
		b.set(ruler("gone"))
		c := b.start(nil, f)[0]
		edit(b, "thanosrulers", "a", func(w *v1.ThanosRuler) { w.Annotations["changed"] = "x" })
		b.set(ruler("later"))
		b.gone(ruler("gone"))
		b.after(pollPeriod * 3)
		if got := b.written("thanosrulers"); len(got) > 0 {
			t.Fatalf("a follower wrote %q", got)
		}
		if w, ok := c.stores.workloads.get("team", "a"); !ok || w.GetAnnotations()["changed"] != "x" {
			t.Error("the cache of a follower is old")
		}
		close(leads)
		b.settle()
		got := strings.Join(b.written(), "; ")
		if !strings.Contains(got, "create statefulsets team/ruler-a") || !strings.Contains(got, "create statefulsets team/ruler-later") || strings.Contains(got, "gone") {
			t.Errorf("the leader wrote %s", got)
		}
	})
}

// TestFollowerStops: an operator that never leads stops cleanly.
func TestFollowerStops(t *testing.T) {
	inBubble(t, func(_ *testing.T, b *harness, f *fakeKind) {
		b.lead = func(ctx context.Context) bool { <-ctx.Done(); return false }
		b.start(nil, f)
		b.stop()
	})
}

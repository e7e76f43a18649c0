package engine

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestIdleWhenNoKeyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &scriptedKind{}
		kind := w.kind(t)
		var idleAfter []int
		kind.Idle = func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			idleAfter = append(idleAfter, len(w.passes))
		}
		l := newLoop(kind, slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry(), "prometheus"))
		for _, name := range []string{"a", "b", "c"} {
			l.enqueue(key(name))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { l.Run(ctx, 1); close(done) }()
		synctest.Wait()
		l.enqueue(key("d"))
		synctest.Wait()
		cancel()
		<-done
		if !slices.Equal(idleAfter, []int{3, 4}) {
			t.Errorf("idle after %v passes, want after 3 and after 4", idleAfter)
		}
	})
}

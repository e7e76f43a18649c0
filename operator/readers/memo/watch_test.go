package memo

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// A watch without reads for ten minutes ends and makes room for others. Reads and listeners keep it
// open.
func TestWatchesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &changes{refuses: []string{""}}
		r := New(t.Context(), &cluster{pods: 1}, from)
		watched := func(namespace string) bool {
			synctest.Wait()
			from.mu.Lock()
			defer from.mu.Unlock()
			w := from.open["pods "+namespace]
			return w != nil && !w.IsStopped()
		}
		in := func(namespace string) readers.Query {
			return readers.Query{GroupVersionResource: pods.GroupVersionResource, Namespace: namespace}
		}
		list(t, r, pods) // forbidden in all namespaces
		synctest.Wait()
		for i := range maxWatches {
			list(t, r, in(fmt.Sprint("n", i)))
		}
		if last := fmt.Sprint("n", maxWatches-1); !watched("n0") || watched(last) {
			t.Errorf("watched are n0: %v, beyond the limit: %v", watched("n0"), watched(last))
		}
		time.Sleep(unwanted - time.Minute)
		list(t, r, in("n0"))
		time.Sleep(2 * time.Minute)
		if !watched("n0") || watched("n1") {
			t.Errorf("watched are n0: %v, n1, which nobody reads: %v", watched("n0"), watched("n1"))
		}
		list(t, r, in("another"))
		if !watched("another") {
			t.Error("watches that ended leave no place for others")
		}
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = r.Changes(ctx, func(readers.Change) {}) }()
		time.Sleep(3 * unwanted)
		if !watched("another") {
			t.Error("somebody listens, and nothing is watched")
		}
		stop()
		time.Sleep(2 * unwanted)
		if watched("another") {
			t.Error("nobody listens any more, and it is watched")
		}
	})
}

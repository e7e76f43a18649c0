package footprint

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCollectAt(t *testing.T) {
	for alive, want := range map[uint64]int{
		0: mostPercent, 1 << 20: mostPercent, 16 << 20: 200, 32 << 20: 100, 64 << 20: 50, 100 << 20: leastPercent, 1 << 40: leastPercent,
	} {
		if got := collectAt(alive); got != want {
			t.Errorf("%d bytes alive: %d %%, want %d %%", alive, got, want)
		}
	}
}

// TestMostKept: memory of changes is kept for the next ones, and released while there are few.
func TestMostKept(t *testing.T) {
	for collections, want := range map[uint64]uint64{0: quietIdle, quietCollections: quietIdle, quietCollections + 1: mostIdle, 1000: mostIdle} {
		if got := mostKept(collections); got != want {
			t.Errorf("%d collections: %d bytes, want %d", collections, got, want)
		}
	}
}

// TestStart: the heap is kept smaller from the start until the program has settled, unless the user sets a percentage.
func TestStart(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "1000")
	Start(t.Context())
	if got := debug.SetGCPercent(1000); got != 1000 {
		t.Errorf("with GOGC, the percentage became %d", got)
	}
	t.Setenv("GOGC", "")
	synctest.Test(t, func(t *testing.T) {
		startup.ended = false
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		Start(ctx)
		synctest.Wait()
		if got := debug.SetGCPercent(1000); got < startPercent || got > mostPercent {
			t.Errorf("the percentage is %d", got)
		}
		time.Sleep(2 * startPeriod)
		synctest.Wait()
		if got := debug.SetGCPercent(1000); got > mostPercent {
			t.Errorf("the percentage is not adjusted: %d", got)
		}
		var done sync.WaitGroup
		done.Go(func() { Settle(ctx) })
		synctest.Wait()
		debug.SetGCPercent(1000)
		time.Sleep(2 * startPeriod)
		synctest.Wait()
		if got := debug.SetGCPercent(1000); got != 1000 {
			t.Errorf("still adjusted as at the start: %d", got)
		}
		cancel()
		done.Wait()
	})
}

// alive grows by about the size of an allocation. The tolerance is for garbage of other
// tests.
func TestAlive(t *testing.T) {
	runtime.GC()
	runtime.GC() // pools are emptied by the second collection
	before := alive()
	kept := make([]byte, 64<<20)
	runtime.GC()
	if grown := int64(alive()) - int64(before); grown < 40<<20 || grown > 88<<20 {
		t.Errorf("64 MiB more count as %d bytes", grown)
	}
	runtime.KeepAlive(kept)
}

// TestSettleReleasesWhatABurstLeft: a minute after a burst, its memory was returned.
func TestSettleReleasesWhatABurstLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		defer done.Wait()
		defer cancel()
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		done.Go(func() { Settle(ctx) })
		synctest.Wait()
		burst := make([]byte, 256<<20)
		for i := range burst {
			burst[i] = 1
		}
		runtime.KeepAlive(burst)
		runtime.GC()
		if before := idle(); before < mostIdle {
			t.Fatalf("%d bytes are free after a burst", before)
		}
		time.Sleep(tunePeriod + time.Second)
		synctest.Wait()
		if left := idle(); left > mostIdle {
			t.Errorf("%d bytes are free a minute after a burst", left)
		}
	})
}

// TestFollow: the growth follows the live heap until the end, unless the user sets a percentage.
func TestFollow(t *testing.T) {
	before := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "1000")
	Follow(t.Context()) // returns
	if got := debug.SetGCPercent(1000); got != 1000 {
		t.Errorf("with GOGC, the percentage became %d", got)
	}
	t.Setenv("GOGC", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { Follow(ctx) })
		synctest.Wait()
		large := make([]byte, 100<<20)
		runtime.GC() // alive is the live heap at the last collection
		time.Sleep(2 * followPeriod)
		synctest.Wait()
		if got := debug.SetGCPercent(leastPercent); got != leastPercent {
			t.Errorf("%d %% with more than 100 MiB", got)
		}
		runtime.KeepAlive(large)
		time.Sleep(2 * tunePeriod)
		cancel()
		done.Wait()
	})
}

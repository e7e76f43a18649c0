package footprint

import (
	"runtime"
	"testing"
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

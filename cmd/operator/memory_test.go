package main

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

func TestAlive(t *testing.T) {
	runtime.GC()
	before := alive()
	kept := make([]byte, 8<<20)
	runtime.GC()
	if grown := int64(alive()) - int64(before); grown < 7<<20 || grown > 9<<20 {
		t.Errorf("8 MiB more count as %d bytes", grown)
	}
	runtime.KeepAlive(kept)
}

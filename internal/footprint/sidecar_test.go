package footprint

import (
	"math"
	"testing"
)

func TestMaxPlain(t *testing.T) {
	for limit, want := range map[int64]int64{
		0:        MaxFileBytes, // no limit
		50 << 20: 30 << 20 / 64 * 63,
		16 << 20: 4 << 20 / 64 * 63,
		4 << 30:  MaxFileBytes,
	} {
		if got := MaxPlain(limit); got != want {
			t.Errorf("MaxPlain(%d) = %d, want %d", limit, got, want)
		}
	}
	for limit, last := int64(1), int64(0); limit < 2<<30; limit += 777_777 {
		now := MaxPlain(limit)
		if now < last || now >= limit {
			t.Fatalf("MaxPlain(%d) = %d after %d", limit, now, last)
		}
		last = now
	}
}

func TestMinLimit(t *testing.T) {
	for _, plain := range []int64{1, 1 << 20, 5 << 20, 30 << 20, 100_000_000, MaxFileBytes} {
		limit := MinLimit(plain)
		less := limit - 4<<20 - plain/16
		if MaxPlain(limit) < plain || less > 0 && MaxPlain(less) >= plain {
			t.Errorf("MinLimit(%d) = %d, which allows %d", plain, limit, MaxPlain(limit))
		}
	}
	if got := MinLimit(MaxFileBytes + 1); got != 0 {
		t.Errorf("a limit of %d for more than any allows", got)
	}
}

func TestInMemoryVolume(t *testing.T) {
	for size, want := range map[int64]int64{0: 2 << 10, 1: 6 << 10, 4 << 10: 6 << 10, 4<<10 + 1: 10 << 10, math.MaxInt64: math.MaxInt64} {
		if got := InMemoryVolume(size); got != want {
			t.Errorf("InMemoryVolume(%d) = %d, want %d", size, got, want)
		}
	}
}

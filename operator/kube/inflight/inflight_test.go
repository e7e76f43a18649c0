package inflight

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		first, err := b.Take(t.Context(), 60, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := b.Take(t.Context(), 50, time.Second); time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		} else if _, busy := errors.AsType[*BusyError](err); !busy {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Take(gone, 50, time.Second); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.AfterFunc(time.Millisecond, first)
		second, err := b.Take(t.Context(), 1<<40, time.Second) // takes the whole budget
		if err != nil {
			t.Fatal(err)
		}
		first() // a no-op
		if b.free.TryAcquire(1) {
			t.Error("more than everything was taken")
		}
		second()
		if !b.free.TryAcquire(100) {
			t.Error("something was not given back")
		}
	})
}

func TestMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(123 << 20)
	if got := Memory(); got != 123<<20 {
		t.Error(got)
	}
	debug.SetMemoryLimit(1<<63 - 1)
	if got := Memory(); got != unlimited {
		t.Error(got)
	}
}

package status

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestOnChange: a burst of changes causes one call, not before the pause is over. Without
// changes, there is a call after the longest time.
func TestOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{}, 1)
		began := time.Now()
		var at []time.Duration
		go func() {
			for _, wait := range []time.Duration{100 * time.Millisecond, 0, 0, 10 * time.Second} {
				time.Sleep(wait)
				select {
				case changed <- struct{}{}:
				default:
				}
			}
		}()
		err := onChange(ctx, changed, 2*time.Second, 30*time.Second, func(context.Context) error {
			if at = append(at, time.Since(began)); len(at) == 4 {
				cancel()
			}
			return nil
		})
		want := []time.Duration{0, 2 * time.Second, 10100 * time.Millisecond, 42100 * time.Millisecond}
		if err != nil || len(at) != len(want) {
			t.Fatal(err, at)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("asked at %v, want %v", at, want)
			}
		}
	})
}

func TestOnChangeFails(t *testing.T) {
	failed := errors.New("failed")
	if err := onChange(t.Context(), nil, time.Hour, time.Hour, func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

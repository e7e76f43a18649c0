package cputime_test

import (
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
)

func TestWaitingCostsNothing(t *testing.T) {
	begin := cputime.Now()
	<-time.After(time.Second)
	if took := cputime.Since(begin); took > time.Second/2 {
		t.Errorf("a second of waiting cost %s", took)
	}
}

// CPU work advances the clock; otherwise the loop does not end.
func TestWorkCosts(t *testing.T) {
	for begin, n := cputime.Now(), 0; cputime.Since(begin) < 20*time.Millisecond; n++ {
	}
}

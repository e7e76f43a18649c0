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

// Work advances the clock, also on a machine that does other work.
func TestWorkCosts(t *testing.T) {
	until := time.Now().Add(time.Minute)
	for begin := cputime.Now(); cputime.Since(begin) < 20*time.Millisecond; {
		if time.Now().After(until) {
			t.Fatal("a minute of work cost less than 20 ms")
		}
	}
}

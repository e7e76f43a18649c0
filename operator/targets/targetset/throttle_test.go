package targetset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// simulate returns the times of notifications about changes at certain times.
func simulate(changes ...time.Duration) (passed []time.Duration) {
	var th throttle
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	due := time.Duration(-1)
	until := func(at time.Duration) {
		if due >= 0 && due <= at {
			th.passed(begin.Add(due))
			passed = append(passed, due)
			due = -1
		}
	}
	for _, at := range changes {
		until(at - 1)
		if wait, ok := th.change(begin.Add(at)); ok {
			due = at + wait
		}
		until(at)
	}
	until(time.Hour)
	return passed
}

func TestThrottle(t *testing.T) {
	ms := func(n ...int) (out []time.Duration) {
		for _, n := range n {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	var steady []int
	for at := 0; at < 20_000; at += 10 {
		steady = append(steady, at)
	}
	for name, tc := range map[string]struct{ changes, passed []time.Duration }{
		"one":                       {ms(0), ms(0)},
		"the second waits":          {ms(0, 1, 2, 99), ms(0, 100)},
		"pauses double to 5 s":      {ms(steady...), ms(0, 100, 300, 700, 1500, 3100, 6300, 11300, 16300, 21300)},
		"after the pause, at once":  {ms(0, 150), ms(0, 150)},
		"and pauses go on doubling": {ms(0, 150, 160), ms(0, 150, 350)},
		"after 5 s it is the first": {ms(0, 1, 5200, 5201), ms(0, 100, 5200, 5300)},
	} {
		if diff := cmp.Diff(tc.passed, simulate(tc.changes...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Taking changes may use a twentieth of the time.
func TestThrottleOfWork(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: firstPause, 20 * time.Millisecond: 400 * time.Millisecond, time.Minute: lastPause} {
		var th throttle
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		th.change(now)
		th.taken(now, took)
		if wait, ok := th.change(now); !ok || wait != want {
			t.Errorf("after %s: a pause of %s, want %s", took, wait, want)
		}
	}
}

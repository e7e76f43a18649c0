package reload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// script is a Trigger that returns answers in order and records its calls with their time.
type script struct {
	mu      sync.Mutex
	answers []error // the last one is repeated
	hold    time.Duration
	start   time.Time
	asked   []string
}

func (s *script) Reload(ctx context.Context, r Request) error {
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s@%s", r.Version, time.Since(s.start).Round(time.Second)))
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	if s.hold > 0 {
		select {
		case <-time.After(s.hold):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return answer
}

func (s *script) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

var (
	refused = fail(Rejected, "refused")
	away    = fail(Unreachable, "away")
	early   = fail(NotReady, "early")
)

// play runs a target with a fake clock and calls f, which drives it.
func play(t *testing.T, s *script, o TargetOptions, f func(*Target)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.start = time.Now()
		o.Trigger = s
		target := NewTarget(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { target.Run(ctx, func(context.Context) error { return nil }) })
		f(target)
		cancel()
		running.Wait()
	})
}

func TestTargetRequestsOneReloadPerVersion(t *testing.T) {
	s := &script{answers: []error{nil}}
	play(t, s, TargetOptions{Backoff: Backoff{Base: time.Second}}, func(target *Target) {
		if target.State().Live {
			t.Error("live before anything was wanted")
		}
		for _, v := range []string{"a", "a", "b", "b", "a"} {
			target.Want(Content{Version: v})
			synctest.Wait()
			if st := target.State(); !st.Live || st.Wanted.Version != v || st.Applied.Version != v {
				t.Errorf("state %+v after %s", st, v)
			}
		}
	})
	if want := []string{"a@0s", "b@0s", "a@0s"}; !slices.Equal(s.calls(), want) {
		t.Errorf("asked %v, want %v", s.calls(), want)
	}
}

// If a is applied, b is rejected and a is restored, the server is reloaded with a again.
func TestRollback(t *testing.T) {
	s := &script{answers: []error{nil, refused, nil}}
	play(t, s, TargetOptions{Backoff: Backoff{Base: time.Hour}}, func(target *Target) {
		for _, v := range []string{"a", "b", "a"} {
			target.Want(Content{Version: v})
			synctest.Wait()
		}
		if !target.State().Live {
			t.Error("not live after the way back")
		}
	})
	if want := []string{"a@0s", "b@0s", "a@0s"}; !slices.Equal(s.calls(), want) {
		t.Errorf("asked %v, want %v", s.calls(), want)
	}
}

func TestCorrectionDoesNotWaitForThePause(t *testing.T) {
	s := &script{answers: []error{refused, refused, nil}}
	play(t, s, TargetOptions{Backoff: Backoff{Base: time.Hour, Max: time.Hour}}, func(target *Target) {
		target.Want(Content{Version: "bad"})
		time.Sleep(2 * time.Second)
		target.Want(Content{Version: "worse"})
		time.Sleep(3 * time.Second)
		target.Want(Content{Version: "good"})
		synctest.Wait()
	})
	if want := []string{"bad@0s", "worse@2s", "good@5s"}; !slices.Equal(s.calls(), want) {
		t.Errorf("asked %v, want %v", s.calls(), want)
	}
}

func TestContentThatArrivesDuringAnAttemptFollowsIt(t *testing.T) {
	s := &script{answers: []error{nil}, hold: 10 * time.Second}
	play(t, s, TargetOptions{Backoff: Backoff{Base: time.Hour}}, func(target *Target) {
		target.Want(Content{Version: "a"})
		for i := range 50 {
			time.Sleep(100 * time.Millisecond)
			target.Want(Content{Version: fmt.Sprint("b", i)})
		}
		time.Sleep(time.Minute)
		if !target.State().Live {
			t.Error("the last content is not live")
		}
	})
	if want := []string{"a@0s", "b49@10s"}; !slices.Equal(s.calls(), want) {
		t.Errorf("asked %v, want %v", s.calls(), want)
	}
}

func TestBackoff(t *testing.T) {
	b := Backoff{Base: 5 * time.Second, Max: time.Minute}
	for _, tc := range []struct {
		r    Reason
		n    int
		want time.Duration
	}{
		{Unreachable, 1, 500 * time.Millisecond},
		{Unreachable, 2, time.Second},
		{NotReady, 4, 4 * time.Second},
		{NotReady, 50, 5 * time.Second},
		{Rejected, 1, 5 * time.Second},
		{Timeout, 2, 10 * time.Second},
		{Unverified, 1, 5 * time.Second},
		{Unverified, 5, time.Minute},
		{Rejected, 4, 40 * time.Second},
		{Rejected, 5, time.Minute},
		{Rejected, 5000, time.Minute},
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			d := b.pause(tc.r, tc.n)
			seen[d] = true
			if low, high := tc.want*8/10, min(tc.want*12/10, time.Minute); d < low || d > high {
				t.Errorf("pause(%s, %d) = %s, want %s to %s", tc.r, tc.n, d, low, high)
			}
		}
		if len(seen) < 10 {
			t.Errorf("pause(%s, %d) has no jitter: %v", tc.r, tc.n, seen)
		}
	}
}

// The time for which a server was down or starting prolongs neither the pauses after it has refused, nor does it use up
// the attempts.
func TestSlowStartDoesNotCount(t *testing.T) {
	answers := append(slices.Repeat([]error{away, early}, 3), slices.Repeat([]error{early}, 20)...)
	for name, tc := range map[string]struct {
		limit int
		want  []time.Duration // from each refusal to the next attempt
	}{
		"without limit": {0, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second}},
		"with limit":    {6, []time.Duration{10 * time.Second, 20 * time.Second}}, // away counts
	} {
		t.Run(name, func(t *testing.T) {
			var at []time.Time
			o := TargetOptions{
				Backoff: Backoff{Base: 10 * time.Second, Max: time.Minute}, Limit: tc.limit,
				OnAttempt: func(a Attempt) {
					if ReasonOf(a.Err) == Rejected {
						at = append(at, a.Started)
					}
				},
			}
			s := &script{answers: append(slices.Clone(answers), refused)}
			play(t, s, o, func(target *Target) {
				target.Want(Content{Version: "a"})
				time.Sleep(3 * time.Hour)
			})
			if tc.limit > 0 && len(at) != len(tc.want)+1 {
				t.Fatalf("%d refusals", len(at))
			}
			for i, want := range tc.want {
				if d := at[i+1].Sub(at[i]); d < want*8/10 || d > want*12/10 {
					t.Errorf("%s after refusal %d, want %s", d, i+1, want)
				}
			}
		})
	}
}

func TestLimitAndNudge(t *testing.T) {
	s := &script{answers: []error{early, refused, refused, refused, refused, nil}}
	var exhausted atomic.Int64
	var outcomes []error
	o := TargetOptions{
		Backoff: Backoff{Base: time.Second, Max: time.Second}, Limit: 2,
		OnExhausted: func() { exhausted.Add(1) },
		OnAttempt:   func(a Attempt) { outcomes = append(outcomes, a.Err) },
	}
	play(t, s, o, func(target *Target) {
		target.Want(Content{Version: "a"})
		time.Sleep(time.Hour)
		if exhausted.Load() != 1 {
			t.Errorf("exhausted %d times", exhausted.Load())
		}
		target.nudge()
		time.Sleep(time.Hour)
		target.Want(Content{Version: "b"})
		time.Sleep(time.Hour)
		if !target.State().Live {
			t.Error("not live")
		}
	})
	if exhausted.Load() != 2 || len(s.calls()) != 6 {
		t.Errorf("exhausted %d times, asked %v", exhausted.Load(), s.calls())
	}
	if len(outcomes) != 5 || outcomes[4] != nil {
		t.Errorf("outcomes %v: not_ready is none", outcomes)
	}
}

// No request is sent while the inputs cannot be read.
func TestRetriesLookAtTheInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []error{away, nil}, start: time.Now()}
		steps := 0
		target := NewTarget(TargetOptions{Trigger: s, Backoff: Backoff{Base: time.Second}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			target.Run(ctx, func(context.Context) error {
				if steps++; steps < 30 {
					return errors.New("unreadable")
				}
				target.Want(Content{Version: "b"})
				return nil
			})
		})
		target.Want(Content{Version: "a"})
		time.Sleep(time.Minute)
		cancel()
		running.Wait()
		if c := s.calls(); len(c) != 2 || c[0] != "a@0s" || c[1][:2] != "b@" || steps != 30 {
			t.Errorf("asked %v after %d looks", c, steps)
		}
	})
}

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []error{nil}, start: time.Now()}
		changes := make(chan struct{}, 1)
		version, broken := "a", error(nil)
		var mu sync.Mutex
		set := func(v string, err error) { mu.Lock(); defer mu.Unlock(); version, broken = v, err }
		var caused, failures atomic.Int64
		l := &Loop{
			Step: func(context.Context) (Content, error) {
				mu.Lock()
				defer mu.Unlock()
				return Content{Version: version}, broken
			},
			Changes:  changes,
			Interval: 3 * time.Minute,
			Targets:  []*Target{NewTarget(TargetOptions{Trigger: s, Backoff: Backoff{Base: time.Second}})},
			OnStep: func(c bool, err error) {
				if c {
					caused.Add(1)
				}
				if err != nil {
					failures.Add(1)
				}
			},
			Logger: discard,
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := l.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // first step, without any event
		set("b", nil)
		changes <- struct{}{}
		synctest.Wait()
		changes <- struct{}{} // no change
		synctest.Wait()
		set("c", nil)
		time.Sleep(3*time.Minute + time.Second) // detected by the tick
		if caused.Load() != 3 {
			t.Errorf("%d looks with a cause, want 3", caused.Load())
		}
		set("", errors.New("broken"))
		changes <- struct{}{}
		time.Sleep(time.Second)
		set("d", nil) // no event; detected by the quick retry
		time.Sleep(2 * time.Second)
		if failures.Load() == 0 {
			t.Error("the failure was not told")
		}
		cancel()
		running.Wait()
		if got := s.calls(); len(got) != 4 || got[0] != "a@0s" || got[1] != "b@0s" || got[2] != "c@3m0s" || got[3][:2] != "d@" {
			t.Errorf("asked %v", got)
		}
	})
}

func TestFirstStep(t *testing.T) {
	broken := errors.New("broken")
	l := &Loop{
		Step: func(context.Context) (Content, error) { return Content{}, broken }, Interval: time.Hour,
		FirstMustWork: true, Logger: discard,
	}
	if err := l.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("Run = %v, want the error of the first step", err)
	}
}

// A signal during the first step is not an error of the inputs.
func TestSignalInTheFirstStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var log logtest.Log
	l := &Loop{
		Step: func(ctx context.Context) (Content, error) { cancel(); return Content{}, ctx.Err() }, Interval: time.Hour,
		FirstMustWork: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}
	if err := l.Run(ctx); err != nil || log.String() != "" {
		t.Errorf("Run = %v, logged %s", err, log.String())
	}
}

var discard = slog.New(slog.DiscardHandler)

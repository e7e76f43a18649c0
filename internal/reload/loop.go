package reload

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Pauses after a failed step. The first is short because the update of a folder soon completes.
var stepBackoff = Backoff{Base: 200 * time.Millisecond, Max: 30 * time.Second}

// Loop calls Step when something may have changed, and passes the outcome to the targets.
type Loop struct {
	// Step reads the inputs, updates the outputs and returns the content on disk. It is idempotent, and calls
	// never overlap. An error with a method Temporary() that returns true is expected occasionally and not
	// logged as an error.
	Step func(context.Context) (Content, error)
	// Changes receives a value when something may have changed.
	Changes <-chan struct{}
	// Interval is the time after which Step is called without a change.
	Interval time.Duration
	// Targets are kept on the version Step returns.
	Targets []*Target
	// FirstMustWork makes Run return the error of the first step, unless it is temporary.
	FirstMustWork bool
	// OnStep is called with every outcome, and with whether a change or the interval caused the step; may be
	// nil.
	OnStep func(caused bool, err error)
	Logger *slog.Logger

	used    atomic.Bool // whether a step has succeeded
	mu      sync.Mutex  // held during a step
	failed  string      // text of the last failure, to log it only once
	current version
	failure *Failure

	contents uint64 // number of the current content, as in Target.want
	recent   []step // at most maxRecent
}

// occasion is why a step runs.
type occasion int

const (
	repeated occasion = iota // it is the first one or a retry, or a target requests the content
	due                      // a change, or the end of the interval
)

// Run runs the loop. It returns nil after ctx ended, or the error of the first step.
func (l *Loop) Run(ctx context.Context) error {
	failures := 0
	if err := l.step(ctx, repeated); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		if l.FirstMustWork && !Temporary(err) {
			return err // the caller logs it
		}
		l.log(err)
		failures = 1
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	refresh := func(ctx context.Context) error { return l.runStep(ctx, repeated) }
	for _, t := range l.Targets {
		running.Go(func() { t.Run(ctx, refresh) })
	}
	tick := time.NewTicker(l.Interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		again := l.again(failures)
		select {
		case <-ctx.Done():
			return nil
		case <-l.Changes:
			tick.Reset(l.Interval)
			failures = count(failures, l.runStep(ctx, due))
		case <-tick.C:
			failures = count(failures, l.runStep(ctx, due))
			for _, t := range l.Targets {
				t.nudge()
			}
		case <-again:
			failures = count(failures, l.runStep(ctx, repeated))
		}
	}
	return nil
}

func count(failures int, err error) int {
	if err == nil {
		return 0
	}
	return failures + 1
}

// again returns a channel that fires when a failed step should be retried. It is nil without failures.
func (l *Loop) again(failures int) <-chan time.Time {
	if failures == 0 {
		return nil
	}
	return time.After(stepBackoff.pause(Rejected, failures))
}

// runStep runs a step and logs its outcome.
func (l *Loop) runStep(ctx context.Context, on occasion) error {
	err := l.step(ctx, on)
	if ctx.Err() == nil {
		l.log(err)
	}
	return err
}

func (l *Loop) step(ctx context.Context, on occasion) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	content, err := l.Step(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		for _, t := range l.Targets {
			t.Want(content)
		}
	}
	l.keep(content, err)
	if l.OnStep != nil {
		l.OnStep(on == due, err)
	}
	return err
}

// log logs each failure once, not every time it recurs.
func (l *Loop) log(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.failed != "":
		l.failed = ""
		l.Logger.Info("Inputs are usable again")
	case err == nil:
	case Temporary(err):
		l.Logger.Debug("Inputs are being replaced, retrying soon", "err", err)
	case err.Error() == l.failed:
		l.Logger.Debug("Inputs are still unusable", "err", err)
	default:
		l.failed = err.Error()
		l.Logger.Error("Inputs are unusable, keeping the last good output", "err", err)
	}
}

// Temporary reports whether err is expected and transient, see Loop.Step.
func Temporary(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err)
	return ok && t.Temporary()
}

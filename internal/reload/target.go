package reload

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Request is one attempt to make a server run what is on disk.
type Request struct {
	// Version names the content, see Content.
	Version string
	// Superseded is closed when newer content is there.
	Superseded <-chan struct{}
}

// Trigger makes one attempt. A nil error means that the server runs the content;
// any other is an *Error. Calls never overlap.
type Trigger interface {
	Reload(ctx context.Context, r Request) error
}

// Attempt is the outcome of one call of a Trigger.
type Attempt struct {
	Version  string
	Err      error // nil: the server runs Version
	Started  time.Time
	Duration time.Duration
}

// Backoff says how long to wait after a failed attempt.
type Backoff struct {
	// Base is the first pause after the server was asked, and the longest while it cannot even be asked.
	Base time.Duration
	// Max bounds all pauses.
	Max time.Duration
}

// pause returns the wait after n failures in a row (n ≥ 1). Asking a server that is
// away or still starting costs nothing, so that begins at a tenth of Base and stays
// below it; one that has refused something is left alone for longer each time.
// Jitter of ±20 % keeps many sidecars from acting in step.
func (b Backoff) pause(r Reason, n int) time.Duration {
	first, limit := b.Base, max(b.Max, b.Base)
	if r == Unreachable || r == NotReady {
		first, limit = b.Base/10, b.Base
	}
	d := first << min(n-1, 20)
	if d <= 0 || d > limit {
		d = limit
	}
	return min(limit, time.Duration(float64(d)*(0.8+0.4*rand.Float64())))
}

// TargetOptions describe one server to keep up to date.
type TargetOptions struct {
	// Name is how reports call the server; it holds no credentials.
	Name    string
	Trigger Trigger
	Backoff Backoff
	// Limit is the number of attempts for one content; then the target waits for new
	// content or the next Nudge. 0 means no limit.
	Limit int
	// OnAttempt is told every outcome but NotReady and Superseded; OnExhausted that Limit was reached. Both may be nil.
	OnAttempt   func(Attempt)
	OnExhausted func()
	Logger      *slog.Logger
	// SuccessAttrs are added to the log line of a successful reload.
	SuccessAttrs []any
}

// Target keeps one server on the wanted version.
type Target struct {
	opts TargetOptions
	wake chan struct{} // something below changed; holds one

	answered bool // the server could be reached once; Run's own

	mu         sync.Mutex
	content    Content // wanted; without a version before the first
	want, live uint64  // count of wanted versions, and which of them the server runs; 0 means unknown
	newer      chan struct{}
	nudged     bool
	last       Attempt
	applied    Content // what the server confirmed last
	appliedAt  time.Time
}

// NewTarget returns a target that wants nothing yet.
func NewTarget(o TargetOptions) *Target {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Target{opts: o, wake: make(chan struct{}, 1), newer: make(chan struct{})}
}

// Want tells what is on disk. A version that differs from the one before ends
// every wait; going back to an earlier version counts as new, because the server
// may have been told of the one between.
func (t *Target) Want(c Content) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := c.Version == t.content.Version
	t.content = c
	if same {
		if t.live == t.want {
			t.applied = c // another form of what the server runs
		}
		return
	}
	t.want++
	close(t.newer)
	t.newer = make(chan struct{})
	t.signal()
}

// Nudge gives a target that has used up its attempts new ones.
func (t *Target) Nudge() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nudged = true
	t.signal()
}

func (t *Target) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// State is what is known about a target.
type State struct {
	Wanted Content
	// Live: the server runs Wanted.
	Live bool
	// Applied is what the server confirmed last, at AppliedAt; the zero time means never.
	Applied   Content
	AppliedAt time.Time
	// Last is the latest attempt; its Started is zero before the first.
	Last Attempt
}

// State returns the current state.
func (t *Target) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return State{
		Wanted: t.content, Live: t.want > 0 && t.live == t.want,
		Applied: t.applied, AppliedAt: t.appliedAt, Last: t.last,
	}
}

// Run makes attempts until ctx ends. Before an attempt is repeated, refresh is asked
// to look at the inputs again, so that it is always about what is on disk; while it fails nothing is sent.
func (t *Target) Run(ctx context.Context, refresh func(context.Context) error) {
	for ctx.Err() == nil {
		if t.pending() {
			t.settle(ctx, refresh)
			continue
		}
		select {
		case <-ctx.Done():
		case <-t.wake:
		}
	}
}

func (t *Target) pending() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.want != t.live
}

// settle makes attempts until one succeeds or the limit is reached.
func (t *Target) settle(ctx context.Context, refresh func(context.Context) error) {
	failures, seen := 0, uint64(0)
	for ctx.Err() == nil && t.pending() {
		gen, err := t.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if gen != seen {
			failures, seen = 0, gen
		}
		reason := ReasonOf(err)
		if reason == Superseded {
			continue
		}
		failures++
		if t.exhausted(failures, reason) {
			t.log(reason, failures, err, 0)
			t.rest(ctx, gen)
			failures = 0
			continue
		}
		wait := t.opts.Backoff.pause(reason, failures)
		t.log(reason, failures, err, wait)
		for t.wait(ctx, gen, wait) && refresh(ctx) != nil {
			wait = t.opts.Backoff.Base
		}
	}
}

// attempt calls the trigger once for the newest version and keeps the outcome.
func (t *Target) attempt(ctx context.Context) (gen uint64, err error) {
	t.mu.Lock()
	gen = t.want
	content, newer := t.content, t.newer
	a := Attempt{Version: content.Version, Started: time.Now()}
	t.live = 0 // from here on the server may run something else
	t.mu.Unlock()

	a.Err = t.opts.Trigger.Reload(ctx, Request{Version: a.Version, Superseded: newer})
	a.Duration = time.Since(a.Started)

	reason := ReasonOf(a.Err)
	t.answered = t.answered || reason != Unreachable
	t.mu.Lock()
	if a.Err == nil {
		t.live = gen
		t.applied, t.appliedAt = content, time.Now()
	}
	if ctx.Err() == nil {
		t.last = a
	}
	t.mu.Unlock()
	if reason == NotReady || reason == Superseded || ctx.Err() != nil {
		return gen, a.Err
	}
	if t.opts.OnAttempt != nil {
		t.opts.OnAttempt(a)
	}
	if a.Err == nil {
		t.opts.Logger.Info("Reload succeeded", append([]any{
			"version", short(a.Version), "duration_seconds", a.Duration.Seconds()}, t.opts.SuccessAttrs...)...)
	}
	return gen, a.Err
}

// wait pauses and reports whether it was left alone: new content ends it early.
func (t *Target) wait(ctx context.Context, gen uint64, d time.Duration) bool {
	t.mu.Lock()
	newer, changed := t.newer, t.want != gen
	t.mu.Unlock()
	return !changed && pause(ctx, newer, d)
}

func (t *Target) exhausted(failures int, r Reason) bool {
	return t.opts.Limit > 0 && failures >= t.opts.Limit && r != NotReady
}

// rest waits for new content or a nudge.
func (t *Target) rest(ctx context.Context, gen uint64) {
	if t.opts.OnExhausted != nil {
		t.opts.OnExhausted()
	}
	t.mu.Lock()
	t.nudged = false
	t.mu.Unlock()
	for {
		t.mu.Lock()
		done := t.nudged || t.want != gen
		t.mu.Unlock()
		if done {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
	}
}

// startTries is how often a server that has never answered may be out of reach
// before that counts as an error: it is started together with the reloader.
const startTries = 10

func (t *Target) log(r Reason, failures int, err error, wait time.Duration) {
	attrs := []any{"err", err, "reason", string(r), "attempt", failures}
	if wait > 0 {
		attrs = append(attrs, "next_try_seconds", wait.Round(10*time.Millisecond).Seconds())
	}
	switch {
	case r == NotReady && failures == 1:
		t.opts.Logger.Info("Server is not ready yet, postponing the reload", attrs...)
	case r == NotReady:
		t.opts.Logger.Debug("Server is not ready yet", attrs...)
	case r == Unreachable && !t.answered && wait > 0 && failures <= startTries:
		if failures == 1 {
			t.opts.Logger.Info("Server does not answer yet, postponing the reload", attrs...)
		}
	case wait == 0:
		t.opts.Logger.Error("Reload failed, giving up until the content changes or the next full check", attrs...)
	default:
		t.opts.Logger.Error("Reload failed", attrs...)
	}
}

// short cuts a version for the log.
func short(version string) string { return version[:min(len(version), 12)] }

package reload

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Request is an attempt to make a server run the content on disk.
type Request struct {
	// Version identifies the content, see [Content].
	Version string
	// Superseded is closed when newer content exists.
	Superseded <-chan struct{}
}

// Trigger makes one attempt. A nil error means that the server runs the content; any other error is an
// [*Error]. Calls never overlap.
type Trigger interface {
	Reload(ctx context.Context, r Request) error
}

// Attempt is the outcome of one call of a [Trigger].
type Attempt struct {
	Version  string
	Err      error // nil if the server runs Version
	Started  time.Time
	Duration time.Duration
}

// Backoff configures the pauses after failed attempts.
type Backoff struct {
	// Base is the first pause after a request was sent, and the longest while none can be sent.
	Base time.Duration
	// Max limits all pauses.
	Max time.Duration
}

// pause returns the wait after the n-th failure (n >= 1), see [tries]. Attempts for a server that is down or
// still starting are cheap, so their pauses begin at a tenth of Base and stay below it. Other pauses grow
// exponentially from Base to Max. Jitter of +-20% keeps many sidecars from retrying at the same time.
func (b Backoff) pause(r Reason, n int) time.Duration {
	first, limit := b.Base, max(b.Max, b.Base)
	if r.cheap() {
		first, limit = b.Base/10, b.Base
	}
	d := first << min(n-1, 20)
	if d <= 0 || d > limit {
		d = limit
	}
	return min(limit, time.Duration(float64(d)*(0.8+0.4*rand.Float64())))
}

// TargetOptions configure a [Target].
type TargetOptions struct {
	// Name identifies the server in reports. It has no credentials.
	Name    string
	Trigger Trigger
	Backoff Backoff
	// Limit is the maximum number of attempts for one content. After them the target waits for new content
	// or the next nudge. 0 means no limit.
	Limit int
	// OnAttempt is called with every outcome except NotReady and Superseded, OnExhausted when Limit is
	// reached. Both may be nil.
	OnAttempt   func(Attempt)
	OnExhausted func()
	Logger      *slog.Logger
	// SuccessAttrs are added to the log line of a successful reload.
	SuccessAttrs []any
}

// Target keeps one server on the wanted version.
type Target struct {
	opts TargetOptions
	wake chan struct{} // something below changed; has capacity 1

	answered bool // the server was reached once; only used by Run

	mu         sync.Mutex
	content    Content // wanted; without a version before the first
	want, live uint64  // number of wanted versions, and the one that the server runs; 0 means unknown
	newer      chan struct{}
	nudged     bool
	last       Attempt
	applied    Content // confirmed last by the server
	appliedAt  time.Time
	loads      []load // at most maxRecent, the last one last
}

// NewTarget returns a target without wanted content.
func NewTarget(o TargetOptions) *Target {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Target{opts: o, wake: make(chan struct{}, 1), newer: make(chan struct{})}
}

// Want sets the wanted content. A version that differs from the previous one ends all waits. Returning to
// an earlier version counts as new, because the server may have loaded the one in between.
func (t *Target) Want(c Content) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := c.Version == t.content.Version
	t.content = c
	if same {
		if t.live == t.want {
			t.applied = c // same version, other details
		}
		return
	}
	t.want++
	close(t.newer)
	t.newer = make(chan struct{})
	t.signal()
}

// nudge allows new attempts for a target that has exhausted its limit.
func (t *Target) nudge() {
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

// State is the state of a [Target].
type State struct {
	Wanted Content
	// Live reports whether the server runs Wanted.
	Live bool
	// Applied was confirmed by the server at AppliedAt; the zero time means never.
	Applied   Content
	AppliedAt time.Time
	// Last is the latest attempt. Its Started is zero before the first.
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

// Run makes attempts until ctx ends. Before a retry it calls refresh to reread the inputs, so that an
// attempt is always for the content on disk. While refresh fails no request is sent.
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
	var tries tries
	seen := uint64(0)
	for ctx.Err() == nil && t.pending() {
		gen, err := t.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		reason := ReasonOf(err)
		if gen != seen {
			tries.restart()
			seen = gen
		}
		if reason == Superseded {
			continue
		}
		n := tries.failed(reason)
		if t.opts.Limit > 0 && tries.attempts >= t.opts.Limit && reason != NotReady {
			t.log(reason, n, err, 0)
			t.rest(ctx, gen)
			tries.restart()
			continue
		}
		wait := t.opts.Backoff.pause(reason, n)
		t.log(reason, n, err, wait)
		for t.wait(ctx, gen, wait) && refresh(ctx) != nil {
			wait = t.opts.Backoff.Base
		}
	}
}

// tries counts failures for one content.
type tries struct {
	attempts int    // all but NotReady, of which the server does not know
	sent     int    // those for which more than a connection was tried
	last     Reason // of the last failure
	same     int    // failures in a row with that reason
}

// failed counts a failure. It returns its number for [Backoff]: a server that starts slowly does not prolong the pauses
// after it has refused.
func (c *tries) failed(r Reason) int {
	if r != c.last {
		c.last, c.same = r, 0
	}
	c.same++
	if r != NotReady {
		c.attempts++
	}
	if r.cheap() {
		return c.same
	}
	c.sent++
	return c.sent
}

func (c *tries) restart() { *c = tries{} }

// attempt calls the trigger once for the newest version and stores the outcome.
func (t *Target) attempt(ctx context.Context) (gen uint64, err error) {
	t.mu.Lock()
	gen = t.want
	content, newer := t.content, t.newer
	a := Attempt{Version: content.Version, Started: time.Now()}
	t.live = 0 // unknown until the outcome
	t.mu.Unlock()

	a.Err = t.opts.Trigger.Reload(ctx, Request{Version: a.Version, Superseded: newer})
	a.Duration = time.Since(a.Started)

	reason := ReasonOf(a.Err)
	t.answered = t.answered || reason != Unreachable
	t.mu.Lock()
	if a.Err == nil {
		t.live = gen
		t.applied, t.appliedAt = content, time.Now()
		t.loaded(gen, t.appliedAt)
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

// wait sleeps, and reports whether it was not ended early by new content.
func (t *Target) wait(ctx context.Context, gen uint64, d time.Duration) bool {
	t.mu.Lock()
	newer, changed := t.newer, t.want != gen
	t.mu.Unlock()
	return !changed && pause(ctx, newer, d)
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

// startTries is the number of failed connections to a server that has never responded before they are
// logged as errors, because it starts together with the reloader.
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

// short truncates a version for the log.
func short(version string) string { return version[:min(len(version), 12)] }

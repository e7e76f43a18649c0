package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

// Outcome is the result of one reconciliation besides its error.
type Outcome struct {
	Reason  string   // condition reason of a successful reconciliation, often empty
	Message string   // message for Reason
	Dropped []string // fields left out because the target version does not support them, sorted
	Pending []string // unfinished work that is not a failure, sorted
	// Reached is how far a failed reconciliation got. One that got further than the last ones is repeated soon.
	Reached int
}

// loopKind describes one kind of object to the loop.
type loopKind struct {
	// Name is the queue's name and the metric label: "prometheus".
	Name string
	// Reconcile gathers, decides and applies. It returns the outcome to report. A key whose object
	// was deleted is not an error.
	Reconcile func(ctx context.Context, key types.NamespacedName) (Outcome, error)
	// Status reports an outcome. known is false before the first reconciliation.
	Status func(ctx context.Context, key types.NamespacedName, r Result, known bool) error
	// Version returns the version of the object in the cache; ok is false if there is none.
	Version func(key types.NamespacedName) (v Version, ok bool)
	// Paced (optional) returns the delay of an object's next reconciliation, which limits the write
	// rate; 0 or less for none.
	Paced func(key types.NamespacedName) time.Duration
	// Idle (optional) is called after a reconciliation if the queue is empty. Reconciliations of
	// other objects may still be running.
	Idle func()
}

// Version identifies an object and what its author wants.
type Version struct {
	UID        types.UID
	Generation int64
}

// Result is the outcome of the last reconciliation of an object.
type Result struct {
	Outcome
	Err error
	// Of is the version that was reconciled, or an earlier one if it changed at that moment.
	Of Version
}

// loop runs the reconciliations of one kind.
type loop struct {
	kind    loopKind
	log     *slog.Logger
	metrics *Metrics

	queue  *queue.Queue
	status *queue.Queue

	refused refused

	mu      sync.Mutex
	results map[types.NamespacedName]Result
}

const (
	// firstRetry and lastRetry bound the pauses between failed reconciliations of one key.
	firstRetry = 200 * time.Millisecond
	lastRetry  = 5 * time.Minute
	// awayRetry is the longest pause after the API server did not serve a request, which is not a fault of the object.
	awayRetry = 10 * time.Second
	// statusDelay coalesces the events of one change into one status write.
	statusDelay = 100 * time.Millisecond
)

// newLoop returns a loop for a kind.
func newLoop(kind loopKind, log *slog.Logger, m *Metrics) *loop {
	l := &loop{kind: kind, log: log, metrics: m, results: map[types.NamespacedName]Result{}}
	l.queue = newQueue(kind.Name, m)
	l.refused.enqueue = l.queue.Add
	l.status = newQueue(kind.Name+"_status", m)
	m.trackResults(l.countResults)
	return l
}

func newQueue(name string, m *Metrics) *queue.Queue {
	return queue.New(queue.Options{First: firstRetry, Last: lastRetry, Name: name, Metrics: m.queueProvider()})
}

// enqueue requests a reconciliation of an object.
func (l *loop) enqueue(key types.NamespacedName) { l.queue.Add(key) }

// enqueueAfter requests a reconciliation of an object after a pause.
func (l *loop) enqueueAfter(key types.NamespacedName, pause time.Duration) {
	l.queue.AddAfter(key, pause)
}

// enqueueStatus requests a status update of an object.
func (l *loop) enqueueStatus(key types.NamespacedName) { l.status.AddAfter(key, statusDelay) }

// Result returns the last outcome of an object; ok is false before its first reconciliation.
func (l *loop) Result(key types.NamespacedName) (r Result, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok = l.results[key]
	return r, ok
}

// Run processes the queue until the context ends and then waits for running reconciliations.
func (l *loop) Run(ctx context.Context, workers int) {
	defer l.refused.end()
	var wg sync.WaitGroup
	wg.Go(func() { l.queue.Run(ctx, workers, l.reconcileThenIdle) })
	wg.Go(func() { l.status.Run(ctx, 1, l.report) })
	wg.Wait()
}

// reconcileThenIdle reconciles an object, and calls Idle if no other is due.
func (l *loop) reconcileThenIdle(ctx context.Context, key types.NamespacedName) {
	l.reconcile(ctx, key)
	if l.kind.Idle != nil && l.queue.Len() == 0 {
		l.kind.Idle()
	}
}

// reconcile reconciles an object unless it is paced, and decides by the error when it is due again.
func (l *loop) reconcile(ctx context.Context, key types.NamespacedName) {
	if l.kind.Paced != nil {
		if wait := l.kind.Paced(key); wait > 0 {
			l.metrics.paced.Inc()
			l.queue.AddAfter(key, wait)
			return
		}
	}
	start := time.Now()
	l.metrics.operations.Inc()
	version, _ := l.kind.Version(key) // the cache may have a later one when the reconciliation ends
	var out Outcome
	err := l.guarded(key, func() (err error) {
		out, err = l.kind.Reconcile(ctx, key)
		return err
	})
	took := time.Since(start)
	l.metrics.duration.Observe(took.Seconds())
	l.log.Debug("reconciliation finished", "key", key.String(), "duration_seconds", took.Seconds())

	wait, waiting := Waiting(err)
	invalid, isInvalid := errors.AsType[*InvalidError](err)
	switch {
	case err == nil:
		l.queue.Forget(key)
	case waiting:
		l.queue.Forget(key)
		l.queue.AddAfter(key, wait.For)
	case isInvalid:
		l.metrics.errors.Inc()
		l.queue.Forget(key) // a retry cannot help before the next event
		if invalid.Again > 0 {
			l.queue.AddAfter(key, invalid.Again)
		}
		l.warn(key, err)
	default:
		l.metrics.errors.Inc()
		switch {
		case ctx.Err() != nil:
		case apierrors.IsConflict(err): // not a failure: the next attempt starts from the other client's version
			l.log.Warn("another client changes an object at the same time, retrying", "key", key.String(), "err", err)
		default:
			l.log.Error("reconciliation failed", "key", key.String(), "err", err)
		}
		l.queue.RetryWithin(key, out.Reached, longest(err))
	}
	l.refused.note(key, err)
	l.remember(key, Result{Outcome: out, Err: err, Of: version})
	l.status.AddAfter(key, statusDelay)
}

// longest returns the longest pause before the next attempt.
func longest(err error) time.Duration {
	if informer.Away(err) {
		return awayRetry
	}
	return lastRetry
}

// warn logs why an object is invalid, unless the last reconciliation had the same error.
func (l *loop) warn(key types.NamespacedName, err error) {
	if last, known := l.Result(key); known && last.Err != nil && last.Err.Error() == err.Error() {
		return
	}
	l.log.Warn("object is invalid, waiting for a change of it or of what it refers to", "key", key.String(), "err", err)
}

// guarded turns a panic into an error: one bad object must not stop the others.
func (l *loop) guarded(key types.NamespacedName, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("reconciliation panicked", "key", key.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return do()
}

// remember stores the outcome of an object that exists.
func (l *loop) remember(key types.NamespacedName, r Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, exists := l.kind.Version(key); !exists {
		delete(l.results, key)
		return
	}
	l.results[key] = r
}

// report updates the status of an object.
func (l *loop) report(ctx context.Context, key types.NamespacedName) {
	l.metrics.statusOperations.Inc()
	r, known := l.Result(key)
	err := l.guarded(key, func() error { return l.kind.Status(ctx, key, r, known) })
	if err != nil {
		l.metrics.statusErrors.Inc()
		if ctx.Err() == nil {
			l.log.Error("status update failed", "key", key.String(), "err", err)
		}
		l.status.RetryWithin(key, 0, longest(err))
		return
	}
	l.status.Forget(key)
}

// countResults returns the numbers of objects by the outcome of their last reconciliation.
func (l *loop) countResults() (ok, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.results {
		if r.Err != nil {
			failed++
		} else {
			ok++
		}
	}
	return ok, failed
}

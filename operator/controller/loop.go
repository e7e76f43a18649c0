package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Outcome is what one pass over an owner found out beyond its error.
type Outcome struct {
	Reason  string   // condition reason of a successful pass, often empty
	Message string   // text beside Reason
	Dropped []string // what the target version does not know and was left out, sorted
	Pending []string // what is not finished but no failure, sorted
}

// Kind is all the loop needs to know about one kind of owner.
type Kind struct {
	// Name is the queue's name and the metric label: "prometheus".
	Name string
	// Reconcile gathers, decides and applies. It returns what to report.
	// A key whose owner is gone is no error.
	Reconcile func(ctx context.Context, key types.NamespacedName) (Outcome, error)
	// Status reports an outcome. known is false before the first pass.
	Status func(ctx context.Context, key types.NamespacedName, r Result, known bool) error
	// Exists reports whether the owner is in the cache.
	Exists func(key types.NamespacedName) bool
	// Idle (optional) is called after a pass when no other waits. Passes of other
	// owners may still run.
	Idle func()
}

// Result is the outcome of the last pass over an owner.
type Result struct {
	Outcome
	Err error
}

// Loop runs the passes of one kind.
type Loop struct {
	kind    Kind
	log     *slog.Logger
	metrics *Metrics

	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	status workqueue.TypedRateLimitingInterface[types.NamespacedName]

	mu      sync.Mutex
	results map[types.NamespacedName]Result
}

const (
	// firstRetry and lastRetry bound the pauses between failed passes of one key.
	firstRetry = 200 * time.Millisecond
	lastRetry  = 5 * time.Minute
	// statusDelay lets the events of one change come together in one status write.
	statusDelay = 100 * time.Millisecond
)

// NewLoop returns a loop for a kind.
func NewLoop(kind Kind, log *slog.Logger, m *Metrics) *Loop {
	l := &Loop{kind: kind, log: log, metrics: m, results: map[types.NamespacedName]Result{}}
	l.queue = newQueue(kind.Name, m)
	l.status = newQueue(kind.Name+"_status", m)
	m.trackResults(l.countResults)
	return l
}

func newQueue(name string, m *Metrics) workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry)
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: name, MetricsProvider: m.queueProvider()})
}

// Enqueue asks for a pass over an owner.
func (l *Loop) Enqueue(key types.NamespacedName) { l.queue.Add(key) }

// EnqueueStatus asks for the status of an owner to be looked at again.
func (l *Loop) EnqueueStatus(key types.NamespacedName) { l.status.AddAfter(key, statusDelay) }

// Result returns the last outcome of an owner; ok is false before its first pass.
func (l *Loop) Result(key types.NamespacedName) (r Result, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok = l.results[key]
	return r, ok
}

// Run works until the context ends; then it lets running passes finish.
func (l *Loop) Run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	work := func(q workqueue.TypedRateLimitingInterface[types.NamespacedName], do func(context.Context, types.NamespacedName)) {
		for {
			key, shutdown := q.Get()
			if shutdown {
				return
			}
			if ctx.Err() == nil {
				do(ctx, key)
			}
			q.Done(key)
		}
	}
	for range workers {
		wg.Go(func() { work(l.queue, l.passThenIdle) })
	}
	wg.Go(func() { work(l.status, l.report) })
	<-ctx.Done()
	l.queue.ShutDown()
	l.status.ShutDown()
	wg.Wait()
}

func (l *Loop) passThenIdle(ctx context.Context, key types.NamespacedName) {
	l.pass(ctx, key)
	if l.kind.Idle != nil && l.queue.Len() == 0 {
		l.kind.Idle()
	}
}

func (l *Loop) pass(ctx context.Context, key types.NamespacedName) {
	start := time.Now()
	l.metrics.operations.Inc()
	var out Outcome
	err := l.guarded(key, func() (err error) {
		out, err = l.kind.Reconcile(ctx, key)
		return err
	})
	took := time.Since(start)
	l.metrics.duration.Observe(took.Seconds())
	log := l.log.With("key", key.String())
	log.Debug("pass finished", "duration_seconds", took.Seconds())

	wait, waiting := errors.AsType[*WaitError](err)
	switch {
	case err == nil:
		l.queue.Forget(key)
	case waiting:
		l.queue.Forget(key)
		l.queue.AddAfter(key, wait.For)
	default:
		l.metrics.errors.Inc()
		if ctx.Err() == nil {
			log.Error("reconcile failed", "err", err)
		}
		l.retry(key, err)
	}
	l.remember(key, Result{Outcome: out, Err: err})
	l.status.AddAfter(key, statusDelay)
}

// retry puts a failed key back: soon, or only to be safe where no retry can help.
func (l *Loop) retry(key types.NamespacedName, err error) {
	if _, invalid := errors.AsType[*InvalidError](err); invalid {
		l.queue.Forget(key)
		l.queue.AddAfter(key, lastRetry)
		return
	}
	l.queue.AddRateLimited(key)
}

// guarded turns a panic into an error: one bad object must not stop the others.
func (l *Loop) guarded(key types.NamespacedName, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.log.Error("pass panicked", "key", key.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return do()
}

func (l *Loop) remember(key types.NamespacedName, r Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.kind.Exists(key) {
		delete(l.results, key)
		return
	}
	l.results[key] = r
}

func (l *Loop) report(ctx context.Context, key types.NamespacedName) {
	l.metrics.statusOperations.Inc()
	r, known := l.Result(key)
	err := l.guarded(key, func() error { return l.kind.Status(ctx, key, r, known) })
	if err != nil {
		l.metrics.statusErrors.Inc()
		if ctx.Err() == nil {
			l.log.Error("status update failed", "key", key.String(), "err", err)
		}
		l.status.AddRateLimited(key)
		return
	}
	l.status.Forget(key)
}

func (l *Loop) countResults() (ok, failed int) {
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

// Package queue implements the work queue of all parts of the operator that process keys.
// A key is never processed by two workers at a time, namespaces take turns, and pauses between
// retries increase.
package queue

import (
	"context"
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Options configures the retries and metrics of a queue.
type Options struct {
	First, Last time.Duration             // pauses between retries of one key, doubling from First to Last
	Name        string                    // in metrics; may be empty if Metrics is nil
	Metrics     workqueue.MetricsProvider // nil: no metrics
}

// Queue is a work queue of unique keys. Use New to create one.
type Queue struct {
	keys    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	limiter workqueue.TypedRateLimiter[types.NamespacedName] // of keys

	mu       sync.Mutex
	furthest map[types.NamespacedName]int // of keys that are retried
}

// calm is the clock of the metrics. The library updates the metrics of work in progress twice a second for each queue,
// which would wake an idle operator more often than everything else.
type calm struct{ clock.RealClock }

// metricsPeriod is how old the metrics of work in progress may be.
const metricsPeriod = 10 * time.Second

// NewTicker returns a ticker that fires every metricsPeriod, or every d if that is longer.
func (c calm) NewTicker(d time.Duration) clock.Ticker {
	return c.RealClock.NewTicker(max(d, metricsPeriod))
}

// New returns an empty queue.
func New(o Options) *Queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](o.First, o.Last)
	fair := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{Name: o.Name, MetricsProvider: o.Metrics, Clock: calm{}, Queue: newTurns()})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Name: o.Name, MetricsProvider: o.Metrics, Queue: fair})
	return &Queue{limiter: limiter, furthest: map[types.NamespacedName]int{}, keys: workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: o.Name, MetricsProvider: o.Metrics, DelayingQueue: delaying})}
}

// Add adds a key unless it is already queued. A key that is being processed is queued until that is done.
func (q *Queue) Add(key types.NamespacedName) { q.keys.Add(key) }

// AddAfter adds a key after a pause.
func (q *Queue) AddAfter(key types.NamespacedName, pause time.Duration) { q.keys.AddAfter(key, pause) }

// Retry adds a key after a pause that grows with each retry without progress. reached is the progress of this attempt,
// for example the number of objects in the desired state. The pause starts from the first one again if that is further
// than all attempts since the last Forget: a server that loses each tenth answer delays the work, but does not stop it
// for minutes. As only a new maximum counts, another client that undoes each write does not cause a busy loop.
func (q *Queue) Retry(key types.NamespacedName, reached int) {
	q.RetryWithin(key, reached, math.MaxInt64)
}

// RetryWithin is like Retry, with a pause of at most that long.
func (q *Queue) RetryWithin(key types.NamespacedName, reached int, most time.Duration) {
	q.mu.Lock()
	before, retried := q.furthest[key]
	further := retried && reached > before
	if further || !retried {
		q.furthest[key] = reached
	}
	q.mu.Unlock()
	if further {
		q.keys.Forget(key)
	}
	q.keys.AddAfter(key, min(q.limiter.When(key), most))
}

// Forget resets the retries of a key.
func (q *Queue) Forget(key types.NamespacedName) {
	q.mu.Lock()
	delete(q.furthest, key)
	q.mu.Unlock()
	q.keys.Forget(key)
}

// Retries returns the number of retries of a key since it last got further, or since the last Forget.
func (q *Queue) Retries(key types.NamespacedName) int { return q.keys.NumRequeues(key) }

// Len returns the number of queued keys.
func (q *Queue) Len() int { return q.keys.Len() }

// Run calls do for the keys from several goroutines until the context ends, and waits for
// them to return. Keys that are still queued are dropped.
func (q *Queue) Run(ctx context.Context, workers int, do func(context.Context, types.NamespacedName)) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				key, shutdown := q.keys.Get()
				if shutdown {
					return
				}
				if ctx.Err() == nil {
					do(ctx, key)
				}
				q.keys.Done(key)
			}
		})
	}
	<-ctx.Done()
	q.keys.ShutDown()
	wg.Wait()
}

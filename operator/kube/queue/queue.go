// Package queue is the work queue of everything in the operator that works on keys:
// never two workers on one key, pauses that grow between retries.
package queue

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Options say how a queue retries and what it is called in metrics.
type Options struct {
	First, Last time.Duration             // pauses between retries of one key: they double from First to Last
	Name        string                    // in metrics; empty with nil Metrics
	Metrics     workqueue.MetricsProvider // nil: none
}

// Queue holds keys, each once. Create it with New.
type Queue struct {
	keys workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// New returns an empty queue.
func New(o Options) *Queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](o.First, o.Last)
	return &Queue{workqueue.NewTypedRateLimitingQueueWithConfig(limiter,
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: o.Name, MetricsProvider: o.Metrics})}
}

// Add adds a key unless it waits already. One that is being worked on waits until that
// is done.
func (q *Queue) Add(key types.NamespacedName) { q.keys.Add(key) }

// AddAfter adds a key after a pause.
func (q *Queue) AddAfter(key types.NamespacedName, pause time.Duration) { q.keys.AddAfter(key, pause) }

// Retry adds a key after a pause that grows with each retry.
func (q *Queue) Retry(key types.NamespacedName) { q.keys.AddRateLimited(key) }

// Forget ends the retries of a key: the next one is the first.
func (q *Queue) Forget(key types.NamespacedName) { q.keys.Forget(key) }

// Len is how many keys wait.
func (q *Queue) Len() int { return q.keys.Len() }

// Run calls do for the keys from several goroutines until the context ends, and waits
// for them. Keys that wait then are dropped.
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

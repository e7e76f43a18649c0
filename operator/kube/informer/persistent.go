package informer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// firstRetry and lastRetry bound the pauses between attempts to reach an API server that is away, which are up to half
// longer at random. Those of reflectors grow up to 30 to 60 s and only start again after two minutes without a failure,
// so that changes would be noticed up to a minute after the API server is back. Clients on each node need that; an
// operator has one process that watches.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// watchBurst is the number of watches that begin without a pause; then one begins every lastRetry. Reflectors begin the
// next one immediately when a watch ends and when the API server responds that the version of the objects has expired.
// They would send many requests per second to a proxy that breaks each watch, and hundreds to an API server that always
// responds so.
const watchBurst = 5

// Persistent returns a list-watcher whose lists and watches are repeated while the API server is away, until their
// context ends. All other errors, among them refusals, are returned to the reflector.
func Persistent(lw *cache.ListWatch) *cache.ListWatch {
	limit := flowcontrol.NewTokenBucketRateLimiter(float32(time.Second)/float32(lastRetry), watchBurst)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return persist(ctx, func() (runtime.Object, error) { return lw.ListWithContext(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if err := limit.Wait(ctx); err != nil {
				return nil, err
			}
			return persist(ctx, func() (watch.Interface, error) { return lw.WatchWithContext(ctx, o) })
		},
	}
}

// persist repeats a call while the API server is away.
func persist[T any](ctx context.Context, call func() (T, error)) (T, error) {
	pauses := wait.Backoff{Duration: firstRetry, Factor: 2, Cap: lastRetry, Steps: 10, Jitter: 0.5}
	for {
		out, err := call()
		if !Away(err) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(pauses.Step()):
		}
	}
}

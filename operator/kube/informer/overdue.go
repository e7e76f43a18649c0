package informer

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// overdue is the time by which a watch may exceed its requested duration. The API server ends each watch in time; a
// longer one has lost its server behind a proxy or load balancer that keeps the connection open.
const overdue = 30 * time.Second

// Timely returns a watch function whose watches end if the API server does not end them in time. Reflectors wait for
// that without a limit, and would not see any change until the next start of the operator. A watch whose connection broke
// before it began is an error.
func Timely(start cache.WatchFuncWithContext) cache.WatchFuncWithContext {
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		events, err := start(ctx, o)
		if err == nil && reflect.TypeOf(events) == unbegun {
			return nil, errUnbegun
		}
		if err != nil || o.TimeoutSeconds == nil {
			return events, err
		}
		lasts := time.Duration(*o.TimeoutSeconds)*time.Second + overdue
		return &timely{events, time.AfterFunc(lasts, events.Stop)}, nil
	}
}

// timely is a watch with a timer that stops it.
type timely struct {
	watch.Interface
	end *time.Timer
}

// Stop implements watch.Interface.
func (t *timely) Stop() {
	t.end.Stop()
	t.Interface.Stop()
}

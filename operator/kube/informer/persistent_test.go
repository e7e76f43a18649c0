package informer

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// outage is a list-watcher whose API server is away until a time.
type outage struct {
	until       time.Time
	away, after error
	calls       int
}

func (o *outage) call() error {
	o.calls++
	if time.Now().Before(o.until) {
		return o.away
	}
	return o.after
}

func (o *outage) listWatch() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			if err := o.call(); err != nil {
				return nil, err
			}
			return &metav1.List{}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if err := o.call(); err != nil {
				return nil, err
			}
			return watch.NewFake(), nil
		},
	}
}

var refused = &url.Error{Op: "Get", URL: "https://api.example", Err: errors.New("connection refused")}

// Soon after the API server is back, however long it was away, lists and watches succeed.
func TestPersistent(t *testing.T) {
	for name, away := range map[string]error{
		"refused": refused, "broken": errUnbegun, "unavailable": apierrors.NewServiceUnavailable("starting"),
	} {
		for _, lasts := range []time.Duration{0, time.Second, time.Hour} {
			for verb, read := range map[string]func(context.Context, *cache.ListWatch) error{
				"list": func(ctx context.Context, lw *cache.ListWatch) error {
					_, err := lw.ListWithContext(ctx, metav1.ListOptions{})
					return err
				},
				"watch": func(ctx context.Context, lw *cache.ListWatch) error {
					_, err := lw.WatchWithContext(ctx, metav1.ListOptions{})
					return err
				},
			} {
				t.Run(name+" "+verb+" "+lasts.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := &outage{until: time.Now().Add(lasts), away: away}
						if err := read(t.Context(), Persistent(o.listWatch())); err != nil {
							t.Fatal(err)
						}
						if late := time.Since(o.until); late > lastRetry*3/2 {
							t.Errorf("%s later", late)
						}
						if most := 10 + int(lasts/lastRetry); o.calls > most {
							t.Errorf("%d calls, at most %d are wanted", o.calls, most)
						}
					})
				})
			}
		}
	}
}

// Answers of the API server are the reflector's, and so is the end.
func TestPersistentReturns(t *testing.T) {
	for name, tc := range map[string]struct {
		outage outage
		calls  int
	}{
		"forbidden":         {outage{after: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)}, 1},
		"expired":           {outage{after: apierrors.NewResourceExpired("too old")}, 1},
		"too many requests": {outage{after: apierrors.NewTooManyRequests("later", 1)}, 1},
		"stopped":           {outage{after: refused}, 3}, // after 0.2 to 0.3 s, and 0.4 to 0.6 s
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Second)
				defer stop()
				_, err := Persistent(tc.outage.listWatch()).ListWithContext(ctx, metav1.ListOptions{})
				if !errors.Is(err, tc.outage.after) || tc.outage.calls != tc.calls {
					t.Errorf("%d calls, %v", tc.outage.calls, err)
				}
			})
		})
	}
}

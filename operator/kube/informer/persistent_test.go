package informer

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
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

// After an outage of the API server of any duration, lists and watches soon succeed.
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

// An API server that responds for ten minutes that the version with which a watch begins has expired is not queried
// hundreds of times per second, and is watched soon afterwards. A single such response delays nothing.
func TestExpiredAgainAndAgain(t *testing.T) {
	for _, lasts := range []time.Duration{0, 10 * time.Minute} {
		t.Run(lasts.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0
				watched := make(chan time.Time, 1)
				lw := &cache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
						calls++
						return nil, apierrors.NewResourceExpired("too old")
					},
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						if calls++; calls == 1 || time.Since(start) < lasts && calls < 10_000 {
							return nil, apierrors.NewResourceExpired("too old")
						}
						select {
						case watched <- time.Now():
						default:
						}
						return watch.NewFake(), nil
					},
				}
				ctx, stop := context.WithCancel(t.Context())
				r := cache.NewReflectorWithOptions(Persistent(lw), &corev1.Pod{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{})
				done := make(chan struct{})
				go func() { defer close(done); r.RunWithContext(ctx) }()
				if late := (<-watched).Sub(start) - lasts; late > lastRetry || lasts == 0 && late > 0 {
					t.Errorf("watched %s later", late)
				}
				if most := watchBurst + int(lasts/lastRetry) + 1; calls > most {
					t.Errorf("%d requests, at most %d are wanted", calls, most)
				}
				stop()
				<-done
			})
		})
	}
}

// A watch that breaks each second writes nothing to the log: [Reads] logs lasting failures once.
func TestBrokenWatchesAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Log
		ctx, stop := context.WithCancel(klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))))
		var watches atomic.Int32
		s := newStore[*corev1.Pod]("pods", Watch{})
		s.add(Watch{}, "", only(&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if o.SendInitialEvents != nil {
					return nil, apierrors.NewBadRequest("sendInitialEvents is not supported")
				}
				watches.Add(1)
				out := watch.NewFake()
				time.AfterFunc(time.Second, func() {
					out.Error(&apierrors.NewGenericServerResponse(http.StatusInternalServerError, "watch", schema.GroupResource{}, "", "stream error", 0, true).ErrStatus)
				})
				return out, nil
			},
		}, &corev1.Pod{}, nil))
		s.Run(ctx)
		time.Sleep(time.Hour)
		stop()
		synctest.Wait()
		if watches.Load() < 50 || log.String() != "" {
			t.Errorf("%d watches, log: %s", watches.Load(), log.Brief(10))
		}
	})
}

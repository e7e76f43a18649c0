package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A watch that delivers nothing, not even its end, ends a little later than the API server should have ended it.
func TestTimely(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds *int64
		stopped bool // by the reader, after a minute
		want    time.Duration
	}{
		"overdue":            {seconds: new(int64(300)), want: 330 * time.Second},
		"stopped in time":    {seconds: new(int64(300)), stopped: true, want: time.Minute},
		"without an end":     {want: 0},
		"stopped, no end":    {stopped: true, want: time.Minute},
		"of a short request": {seconds: new(int64(1)), want: 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silent := watch.NewFake()
				start := Timely(func(context.Context, metav1.ListOptions) (watch.Interface, error) { return silent, nil })
				events, err := start(t.Context(), metav1.ListOptions{TimeoutSeconds: tc.seconds})
				if err != nil {
					t.Fatal(err)
				}
				began, ended := time.Now(), time.Duration(0)
				done := make(chan struct{})
				go func() {
					defer close(done)
					for range events.ResultChan() {
					}
					ended = time.Since(began)
				}()
				if tc.stopped {
					time.Sleep(time.Minute)
					events.Stop()
				}
				time.Sleep(time.Hour)
				if tc.want == 0 {
					events.Stop()
					tc.want = time.Hour
				}
				<-done
				if ended != tc.want {
					t.Errorf("it ended after %s, want %s", ended, tc.want)
				}
			})
		})
	}
}

// A watch that has ended before it began counts as failed.
func TestTimelyUnbegun(t *testing.T) {
	start := Timely(func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewEmptyWatch(), nil })
	for _, seconds := range []*int64{nil, new(int64(300))} {
		if events, err := start(t.Context(), metav1.ListOptions{TimeoutSeconds: seconds}); !Away(err) || events != nil {
			t.Errorf("%T, %v", events, err)
		}
	}
}

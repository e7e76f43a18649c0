package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/stream"
)

// A stream ends when the token of its caller becomes invalid, and continues while that is unknown.
func TestStreamOfRevokedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer atomic.Pointer[apierrors.StatusError]
		ask := func() error {
			if err := answer.Load(); err != nil {
				return err
			}
			return nil
		}
		began := time.Now()
		w := httptest.NewRecorder()
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&feed{w, http.NewResponseController(w), &request{}, ask, true}).run(t.Context(), stream.NewPending(maxNews), nil)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		answer.Store(apierrors.NewServiceUnavailable("the API server is away"))
		time.Sleep(time.Minute)
		synctest.Wait()
		answer.Store(apierrors.NewUnauthorized("the token is not valid"))
		<-done
		if after := time.Since(began); after < 2*time.Minute || after > 2*time.Minute+silence {
			t.Errorf("the stream ends after %s", after)
		}
	})
}

// While the caller cannot be authenticated, changes are pending and the stream stays open.
func TestStreamWhileNobodyKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := make(chan readers.Change)
		var away atomic.Bool
		h := &handler{Options{
			Answers: func() (insight.Answers, error) { return changing{changes: changes}, nil },
			Authorize: func(*http.Request, insight.Object) (access.Rights, error) {
				if away.Load() {
					return nil, apierrors.NewTooManyRequests("the operator asks about 5 new tokens at a time", 1)
				}
				return called(""), nil
			},
		}, stream.NewLimits(1, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		done := make(chan any)
		go func() {
			defer close(done)
			defer func() {
				if fault := recover(); fault != nil {
					t.Errorf("the stream panics: %v", fault)
				}
			}()
			h.events(w, httptest.NewRequestWithContext(ctx, "GET", "/events", nil))
		}()
		heard := func() bool { return strings.Contains(w.Body.String(), "web") }
		synctest.Wait() // the stream is open
		away.Store(true)
		time.Sleep(silence + time.Second)
		changes <- readers.Change{Kind: readers.ObjectChanged, Object: catalog.Ref{Kind: "PodMonitor", Namespace: "demo", Name: "web"}}
		time.Sleep(silence + time.Second)
		synctest.Wait()
		if heard() {
			t.Errorf("heard %s", w.Body)
		}
		away.Store(false)
		time.Sleep(silence)
		synctest.Wait()
		if !heard() {
			t.Error("nothing is heard after the caller is known again")
		}
		cancel()
		<-done
	})
}

// changing sends changes.
type changing struct {
	insight.Answers
	changes chan readers.Change
}

func (c changing) Changes(ctx context.Context, each func(readers.Change)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case change := <-c.changes:
			each(change)
		}
	}
}

// called has the rights of a caller with a name.
type called string

func (called) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}
func (c called) Name() string { return string(c) }

// deadline is a response with a write deadline.
type deadline struct {
	*httptest.ResponseRecorder
	at time.Time
}

// SetWriteDeadline implements the interface of [http.ResponseController].
func (d *deadline) SetWriteDeadline(at time.Time) error { d.at = at; return nil }

// There is no deadline between two events, because HTTP/2 would end the stream.
func TestNoDeadlineBetweenEvents(t *testing.T) {
	w := &deadline{ResponseRecorder: httptest.NewRecorder()}
	s := &feed{ResponseWriter: w, control: http.NewResponseController(w)}
	if !s.write([]byte("data")) || !w.Flushed || !w.at.IsZero() {
		t.Errorf("flushed: %t, deadline %s", w.Flushed, w.at)
	}
}

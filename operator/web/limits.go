package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/web/stream"
)

// Limits of the API: concurrent requests, the duration of one, and the time for its caller to send
// and to receive.
const (
	atATime = 20
	longest = 10 * time.Second
	sending = 5 * time.Second
	// postsAtATime is the limit of concurrent requests with bodies. They have separate slots
	// because they wait for their callers.
	postsAtATime = 4
	receiving    = 30 * time.Second
)

// slots limit concurrent requests, of the API and the pages together.
type slots struct {
	free, posts        chan struct{}
	shares, postShares *stream.Shares // of callers, once they are known
	sending, receiving time.Duration
	metrics            *metrics
}

func newSlots(n int, m *metrics) slots {
	return slots{make(chan struct{}, n), make(chan struct{}, postsAtATime), stream.NewShares(n), stream.NewShares(postsAtATime), sending, receiving, m}
}

// failing writes an error.
type failing func(http.ResponseWriter, *http.Request, error)

// asStatus writes an error in machine-readable form.
func asStatus(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) }

// limit responds 429 to requests beyond the slots, cancels the context of others after longest, and
// drops slow callers.
func (s slots) limit(fail failing, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		free, shares := s.free, s.shares
		if r.Method == http.MethodPost {
			free, shares = s.posts, s.postShares
		}
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		default:
			s.metrics.rejected.WithLabelValues(busy).Inc()
			fail(w, r, apierrors.NewTooManyRequests(fmt.Sprintf("the operator answers %d requests of this kind at a time", cap(free)), 1))
			return
		}
		s.metrics.inFlight.Inc()
		defer s.metrics.inFlight.Dec()
		own := &seat{of: shares}
		defer own.leave()
		ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), seatKey{}, own), longest)
		defer cancel()
		connection := http.NewResponseController(w)
		// Only writers in tests do not support deadlines.
		_ = connection.SetWriteDeadline(time.Now().Add(s.receiving))
		if r.Method == http.MethodPost {
			_ = connection.SetReadDeadline(time.Now().Add(s.sending))
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// seat is the slot of a request. It counts for its caller from the time at which that is known.
type seat struct {
	of    *stream.Shares
	taken func() // nil while the caller is not known
}

// seatKey is the context key of the seat of a request.
type seatKey struct{}

// seated counts the slot of a request for its caller.
//
// Errors: 429: the caller and its group have their share.
func seated(ctx context.Context, c *caller) error {
	own, is := ctx.Value(seatKey{}).(*seat)
	if !is || own.taken != nil { // a stream, or authenticated again
		return nil
	}
	leave, ok := own.of.Take(c.Group())
	if !ok {
		return apierrors.NewTooManyRequests("the operator leaves room for the requests of others: it answers fewer of one user, or of the ServiceAccounts of one namespace, at a time", 1)
	}
	own.taken = leave
	return nil
}

func (s *seat) leave() {
	if s.taken != nil {
		s.taken()
	}
}

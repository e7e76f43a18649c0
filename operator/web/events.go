package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/stream"
)

// Limits of streams: their number, the time between heartbeats, and the number of changes that may
// be pending for a slow reader or for access reviews.
const (
	mostStreams = 50
	mostOfOne   = 10 // of one caller
	heartbeat   = 10 * time.Second
	mostWaiting = 10_000
)

// streams are the open streams of changes.
type streams struct {
	open  *stream.Limits
	every time.Duration // between heartbeats
}

func newStreams() streams { return streams{stream.NewLimits(mostStreams, mostOfOne), heartbeat} }

// events responds with a stream of changes until the caller disconnects or its token becomes
// invalid.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	q, err := h.admit(w, r, &eventsRoute, nil)
	var of insight.Answers
	if err == nil {
		of, err = h.Answers()
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	end, err := h.streams.open.Open(q.rights)
	if err != nil {
		h.metrics.rejected.WithLabelValues(tooManySSE).Inc()
		fail(w, err)
		return
	}
	defer end()
	h.metrics.streams.Inc()
	defer h.metrics.streams.Dec()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies
	if r.Method == http.MethodHead {
		return
	}
	s := &feed{h: h, r: r, w: w, to: http.NewResponseController(w), rights: q.rights, news: stream.NewPending(mostWaiting)}
	s.run(of)
}

// feed is one open stream.
type feed struct {
	h      *Handler
	r      *http.Request
	w      io.Writer
	to     *http.ResponseController
	rights access.Rights
	news   *stream.Pending
}

// run writes until the stream ends.
func (s *feed) run(of insight.Answers) {
	ctx, stop := context.WithCancel(s.r.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { s.h.logged(s.r, recover()) }()
		if err := of.Changes(ctx, s.news.Add); err != nil && ctx.Err() == nil {
			s.h.log.Error("a stream of changes ended", "err", err)
		}
	}()
	defer func() { stop(); <-ended }()
	_ = s.to.SetReadDeadline(time.Time{}) // the deadline of the server is for finite requests
	if !s.renew() || !s.write("retry: 3000\n\n") {
		return
	}
	tick := time.NewTicker(s.h.streams.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-s.news.More:
		case <-tick.C:
			if !s.renew() || !s.write(": still here\n\n") {
				return
			}
		}
		if !s.flush(ctx) {
			return
		}
	}
}

// renew authenticates the caller again and drops the cached permissions; it returns false if the token has become
// invalid. Nothing is sent while the API server does not respond.
func (s *feed) renew() bool {
	rights, err := s.h.authorize(s.r, insight.Object{})
	switch {
	case apierrors.IsUnauthorized(err):
		return false
	case err != nil:
		s.rights = nil
	default:
		s.rights = rights
	}
	if c, ok := s.rights.(*caller); ok {
		c.most = streamQuestions
	}
	return true
}

// flush sends the changes of objects that the caller may get; false when the stream must end.
// Changes that cannot be authorized now are retried at the next heartbeat.
func (s *feed) flush(ctx context.Context) bool {
	changes, lost := s.news.Take()
	if lost {
		return false // the caller is too far behind and has to reread everything
	}
	var later []readers.Change
	for i, c := range changes {
		yes, err := s.may(ctx, c.Object)
		switch {
		case errors.Is(err, errAsked):
			later = append(later, c)
		case err != nil: // reviews of the others would fail, too
			s.news.PutBack(append(later, changes[i:]...))
			return true
		case yes && !s.send(c):
			return false
		}
	}
	s.news.PutBack(later)
	return true
}

func (s *feed) send(c readers.Change) bool {
	data, err := json.Marshal(c)
	return err == nil && s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", c.Kind, data))
}

func (s *feed) may(ctx context.Context, o catalog.Ref) (bool, error) {
	if s.rights == nil {
		return false, errNoRights
	}
	of := schema.GroupResource{}
	switch row := catalog.Of(o.Kind); {
	case row != nil:
		of = resource(row)
	case o.Kind == "Pod":
		of = pods
	default:
		return false, nil
	}
	return s.rights.May(ctx, "get", of, o.Namespace)
}

var errNoRights = apierrors.NewServiceUnavailable("the permissions of the caller are not known")

// write sends a part of the stream, and returns false on a failure. There is no deadline between two parts, because it
// would end an HTTP/2 stream even if nothing is being written.
func (s *feed) write(text string) bool {
	_ = s.to.SetWriteDeadline(time.Now().Add(heartbeat))
	if _, err := io.WriteString(s.w, text); err != nil {
		return false
	}
	err := s.to.Flush()
	_ = s.to.SetWriteDeadline(time.Time{})
	return err == nil
}

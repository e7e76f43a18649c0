package page

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/web/stream"
)

// Limits of streams.
const (
	maxStreams = 100
	maxOfOne   = 25                     // of one caller
	maxNews    = 200                    // pending changes
	gathering  = 200 * time.Millisecond // delay before changes are sent, to batch them
	silence    = 10 * time.Second       // interval of heartbeats, at which the caller is authorized again
	streamLife = 10 * time.Minute       // after which the client reconnects
	writeLimit = 10 * time.Second       // for slow readers
)

// events is the stream of changes. A change contains its object; an empty one means that anything
// may have changed.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	q := newRequest(w, r)
	q.twin = true // errors in JSON
	err := h.enter(q, noObject)
	if err == nil {
		err = q.allow()
	}
	if err != nil {
		fail(w, q, err)
		return
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		return
	}
	end, err := h.streams.Open(q.rights)
	if err != nil {
		fail(w, q, err)
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), streamLife)
	defer cancel()
	n, ended := stream.NewPending(maxNews), make(chan struct{})
	go func() {
		defer close(ended)
		_ = q.answers.Changes(ctx, n.Add) // the stream ends with it, and the client reconnects
	}()
	again := func() error { return h.enter(q, noObject) }
	(&feed{w, http.NewResponseController(w), q, again, true}).run(ctx, n, ended)
	cancel()
	<-ended
}

// feed is one open stream.
type feed struct {
	http.ResponseWriter
	control *http.ResponseController
	q       *request
	again   func() error // authorizes the caller
	known   bool         // whether the permissions of the caller are known; changes stay pending while they are not
}

func (s *feed) run(ctx context.Context, n *stream.Pending, ended <-chan struct{}) {
	h := s.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // for proxies
	if !s.write([]byte(": open\n\n")) {
		return
	}
	ping := time.NewTicker(silence)
	defer ping.Stop()
	for {
		var text []byte
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-ping.C:
			err := s.again()
			if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
				return
			}
			s.known = err == nil
			text = append([]byte(": open\n\n"), s.lines(ctx, n)...)
		case <-n.More:
			select {
			case <-ctx.Done():
				return
			case <-time.After(gathering):
			}
			text = s.lines(ctx, n)
		}
		if !s.write(text) {
			return
		}
	}
}

// write sends a part of the stream, and returns false on a failure. There is no deadline between two parts, because it
// would end an HTTP/2 stream even if nothing is being written.
func (s *feed) write(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	// Servers that do not support this have no deadline either.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := s.Write(text)
	if err == nil {
		err = s.control.Flush()
	}
	_ = s.control.SetWriteDeadline(time.Time{})
	return err == nil
}

// lines returns the changes of objects that the caller may get; none while that is unknown.
func (s *feed) lines(ctx context.Context, n *stream.Pending) []byte {
	if !s.known {
		return nil
	}
	var b bytes.Buffer
	all, lost := n.Take()
	may := map[string]bool{}
	for _, c := range all {
		key := c.Object.Kind + "/" + c.Object.Namespace
		allowed, asked := may[key]
		if row := catalog.Of(c.Object.Kind); !asked && row != nil {
			var err error
			allowed, err = s.q.rights.May(ctx, "get", row.GroupResource(), c.Object.Namespace)
			lost = lost || err != nil
			may[key] = allowed
		}
		if !allowed {
			continue
		}
		line, err := json.Marshal(c)
		if err != nil {
			panic(err) // a Change can always be encoded
		}
		b.WriteString("data: ")
		b.Write(line)
		b.WriteString("\n\n")
	}
	if lost {
		b.WriteString("data: {}\n\n")
	}
	return b.Bytes()
}

package feed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// pingEvery is the time after which a stream without changes sends a line.
	pingEvery = 10 * time.Second
	// stepTimeout is the time in which a client must take a step.
	stepTimeout = time.Minute
	// streamLife is the approximate lifetime of a stream. Then the client identifies itself again, which is cheap,
	// because it has the list.
	streamLife = 30 * time.Minute
)

// stream is the connection of a pod.
type stream struct {
	server *Server
	caller caller
	token  [sha256.Size]byte // of the token of the caller
	since  time.Time
	packed bool // the client accepts gzip

	once  sync.Once
	ended chan struct{} // closed when it must end

	mu   sync.Mutex
	sent Version // the version that the client has
}

// end makes it end soon.
func (s *stream) end() { s.once.Do(func() { close(s.ended) }) }

// version returns the version that was sent completely.
func (s *stream) version() Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// run serves until the client disconnects, the list is removed, the client is too slow, or the stream must end.
func (s *stream) run(ctx context.Context, w http.ResponseWriter) {
	out := &writer{ResponseWriter: w, control: http.NewResponseController(w), packed: s.packed}
	if err := out.begin(); err != nil {
		return
	}
	life := time.NewTimer(streamLife + rand.N(streamLife/10))
	defer life.Stop()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	requested, watched := false, uint64(0)
	for !s.over(ctx, life.C) { // also between the steps of a list that changes faster than the client reads
		at, err := s.server.Feed.next(s.caller, s.version())
		if err != nil {
			return // the client reconnects, and gets the reason
		}
		if at.more {
			if err := out.step(at.step); err != nil {
				s.server.metrics.slow()
				return
			}
			s.server.metrics.step(at.step, out.taken())
			s.mu.Lock()
			s.sent = at.step.to
			s.mu.Unlock()
			continue
		}
		requested = requested && at.inventory // it may be requested again later
		switch {
		case at.inventory && !requested:
			requested = true
			s.server.streams.listAgain(s.caller.uid)
			err = out.lines(time.Now().Add(stepTimeout), message{Request: targetreport.AskInventory})
		case !at.inventory && at.watch.seq != watched: // about the list that was sent last
			watched = at.watch.seq
			err = out.watch(at.watch)
		}
		if err != nil {
			return
		}
		select {
		case <-at.changed:
		case <-at.renewed:
		case <-at.lead:
		case <-ping.C:
			if err := out.lines(time.Now().Add(stepTimeout), message{Ping: &mark{Version: s.version().String()}}); err != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-life.C:
			return
		}
	}
}

// over reports whether the stream must end.
func (s *stream) over(ctx context.Context, life <-chan time.Time) bool {
	select {
	case <-ctx.Done():
	case <-s.ended:
	case <-life:
	default:
		return false
	}
	return true
}

// message is a line other than that of a job with targets.
type message struct {
	Begin   *mark  `json:"begin,omitempty"`
	End     *mark  `json:"end,omitempty"`
	Ping    *mark  `json:"ping,omitempty"`
	Job     string `json:"job,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
	Request string `json:"ask,omitempty"`
}

// mark is the value of begin, end and ping.
type mark struct {
	Version string `json:"version"`
	Full    bool   `json:"full,omitempty"`
	From    string `json:"from,omitempty"`
	Jobs    *int   `json:"jobs,omitempty"` // in begin: the number of lines until end
}

// writer writes lines to a client.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	packed  bool
	n       int // bytes since the last call of taken
}

// begin sends the head of the response.
func (w *writer) begin() error {
	// The read timeout of the server would end the stream.
	if err := w.control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Accept-Encoding")
	if !w.packed {
		return w.control.Flush()
	}
	w.Header().Set("Content-Encoding", "gzip")
	_, err := w.Write(header)
	return err
}

// step writes a step. All of it must be taken within the timeout.
func (w *writer) step(s step) error {
	by := time.Now().Add(stepTimeout)
	begin := &mark{Version: s.to.String(), Full: s.from == Version{}, Jobs: new(len(s.blocks) + len(s.gone))}
	if !begin.Full {
		begin.From = s.from.String()
	}
	if err := w.lines(by, message{Begin: begin}); err != nil {
		return err
	}
	for _, b := range s.blocks {
		if err := w.block(b); err != nil {
			return err
		}
	}
	var end []message
	for _, job := range s.gone {
		end = append(end, message{Job: job, Gone: true})
	}
	return w.lines(by, append(end, message{End: &mark{Version: s.to.String()}})...)
}

// watch writes the units that the pod must report.
func (w *writer) watch(q watch) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(stepTimeout)); err != nil {
		return err
	}
	if err := w.block(q.block); err != nil {
		return err
	}
	return w.control.Flush()
}

// lines writes messages and flushes. The deadline also applies to the blocks that follow.
func (w *writer) lines(by time.Time, all ...message) error {
	if err := w.control.SetWriteDeadline(by); err != nil {
		return err
	}
	var text []byte
	for _, one := range all {
		line, err := json.Marshal(one)
		if err != nil {
			return err // strings can be marshaled
		}
		text = append(append(text, line...), '\n')
	}
	if err := w.block(stored(text)); err != nil {
		return err
	}
	return w.control.Flush()
}

func (w *writer) block(b block) error {
	if !w.packed {
		return b.unpack(countingWriter{w})
	}
	_, err := countingWriter{w}.Write(b.packed)
	return err
}

// countingWriter counts the bytes that a writer writes.
type countingWriter struct{ *writer }

// Write implements io.Writer.
func (c countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n += n
	return n, err
}

// taken returns the number of bytes since the last call.
func (w *writer) taken() (n int) {
	n, w.n = w.n, 0
	return n
}

package httpserver

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Limit limits the number of concurrent requests, fairly by address: a request of the address with
// the most is aborted, although its client may never read the response. It holds one until
// the response is written.
func Limit(most int, next http.Handler) http.Handler {
	return &limited{next, newFair[*activeRequest](most)}
}

type limited struct {
	next http.Handler
	in   *fair[*activeRequest]
}

// ServeHTTP implements http.Handler.
func (l *limited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	own, host := &activeRequest{control: http.NewResponseController(w), cancel: cancel}, hostOf(r.RemoteAddr)
	if loser, full := l.in.enter(host, own); full {
		loser.abort()
	}
	defer l.in.leave(host, own)
	defer own.end()
	l.next.ServeHTTP(w, r.WithContext(ctx))
	if r.ProtoMajor == 2 {
		_ = own.control.Flush() // waits for the client here, and not after the request was counted
	}
}

// activeRequest is a request that has not been answered.
type activeRequest struct {
	control *http.ResponseController
	cancel  func()

	mu    sync.Mutex
	ended bool
}

// end prevents that the next request in the connection is aborted.
func (r *activeRequest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// abort ends the request, also while it waits for its client.
func (r *activeRequest) abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.cancel()
	_ = r.control.SetReadDeadline(time.Unix(1, 0)) // only writers in tests do not support deadlines
	_ = r.control.SetWriteDeadline(time.Unix(1, 0))
}

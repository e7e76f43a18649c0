package faultproxy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Point is a write at which the client ends: the nth request of a call.
type Point struct {
	Call  Call
	Nth   int  // from 1
	After bool // the API server has applied the write, and the client has not got the response
}

// When describes the moment: "before" or "after".
func (p Point) When() string {
	if p.After {
		return "after"
	}
	return "before"
}

// Kill calls kill at a point, and keeps all requests that arrive from then on from the API server, because the client
// does not exist any more. reached is closed after kill has returned.
func Kill(at Point, kill func()) (f Fault, reached <-chan struct{}) {
	var (
		mu   sync.Mutex
		n    int
		dead bool
	)
	done := make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc) {
		mu.Lock()
		if call == at.Call && !dead {
			n++
		}
		now := call == at.Call && n == at.Nth && !dead
		dead = dead || now
		gone := dead
		mu.Unlock()
		switch {
		case now:
			if at.After {
				forward(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			}
			kill()
			close(done)
			<-r.Context().Done()
		case gone:
			<-r.Context().Done()
		default:
			forward(w, r)
		}
	}, done
}

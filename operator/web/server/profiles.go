package server

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
)

const (
	// profilesAtATime limits concurrent requests for profiles: each holds a profile of megabytes until its client has
	// read it.
	profilesAtATime = 4
	// traceWrite is the time in which a client must take a part of a trace.
	traceWrite = 2 * time.Second
)

// profiles serves the profiles of the process, /debug/pprof/.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		pprof.Trace(&prompt{w, http.NewResponseController(w)}, r)
	})
	return httpserver.Limit(profilesAtATime, mux)
}

// prompt is the response with a trace. The runtime keeps all of a trace that its client has not taken, so a client that
// is too slow gets no more.
type prompt struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (p *prompt) Write(part []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(traceWrite)) // only writers in tests do not support deadlines
	return p.ResponseWriter.Write(part)
}

// Unwrap is for [http.ResponseController].
func (p *prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }

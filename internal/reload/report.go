package reload

import (
	"net/http"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// Content describes the files on disk at one moment.
type Content struct {
	// Version is a hash over all that the server reads; equal versions mean equal content.
	Version string `json:"version"`
	// Files are inputs with their outputs, Dirs folders the server reads as they are.
	Files []FileSum       `json:"files,omitempty"`
	Dirs  []volume.DirSum `json:"dirs,omitempty"`
}

// FileSum is one input and its output. Hashes are SHA-256 in hex.
type FileSum struct {
	Input string `json:"input"`
	// InputSHA256 is over the raw bytes, before gunzip: the hash of the Secret's value.
	InputSHA256 string `json:"inputSha256"`
	Output      string `json:"output,omitempty"`
	// OutputSHA256 is over the bytes the server reads.
	OutputSHA256 string `json:"outputSha256,omitempty"`
}

// Report is the answer of GET /api/v1/applied: the files on disk, and those that each server runs.
type Report struct {
	// Ready is true if every server runs the files on disk.
	Ready bool `json:"ready"`
	// Current is on disk since Time; absent before the first successful look.
	Current *Stamped `json:"current,omitempty"`
	// InputError is why the newest inputs are not in Current; absent when they are.
	InputError *Failure       `json:"inputError,omitempty"`
	Targets    []TargetReport `json:"targets"`
	// Recent are the last changes since the start, the last one last, at most 16.
	Recent []Recent `json:"recent,omitempty"`
}

// Stamped is a Content and its time.
type Stamped struct {
	Content
	Time time.Time `json:"time"`
}

// TargetReport is about one server.
type TargetReport struct {
	// Name is the redacted URL, or "process NAME".
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Applied was confirmed by the server at Time; absent before the first success.
	Applied *Stamped `json:"applied,omitempty"`
	// Error is the outcome of the last attempt if that failed.
	Error *Failure `json:"error,omitempty"`
}

// Failure is an error with its time.
type Failure struct {
	// Message holds nothing that may be a value of a configuration: every client that reaches the
	// port can read it. The log has the whole text.
	Message string    `json:"message"`
	Reason  Reason    `json:"reason,omitempty"`
	Time    time.Time `json:"time"`
}

// version is the content on disk, with the time of its last change.
type version struct {
	content Content
	since   time.Time
}

// keep stores the outcome of a step for Report. The caller holds l.mu.
func (l *Loop) keep(c Content, err error) {
	now := time.Now()
	if err != nil {
		l.failure = &Failure{Message: public(err), Time: now}
		if Temporary(err) {
			l.failure.Reason = Incomplete
		}
		return
	}
	l.failure = nil
	l.used.Store(true)
	if c.Version != l.current.content.Version {
		l.contents++
		if !l.current.since.IsZero() {
			l.note(l.current.content, c, now)
		}
		l.current.since = now
	}
	l.current.content = c
}

// Report returns the current state, after the step that is running.
func (l *Loop) Report() Report {
	l.mu.Lock()
	current, failure := l.current, l.failure
	l.mu.Unlock()
	r := Report{Ready: !current.since.IsZero() && failure == nil, InputError: failure, Targets: []TargetReport{}}
	if !current.since.IsZero() {
		r.Current = &Stamped{current.content, current.since}
	}
	for _, t := range l.Targets {
		tr := t.report()
		r.Ready = r.Ready && tr.Ready
		r.Targets = append(r.Targets, tr)
	}
	r.Recent = l.lately()
	return r
}

func (t *Target) report() TargetReport {
	s := t.State()
	r := TargetReport{Name: t.opts.Name, Ready: s.Live}
	if !s.AppliedAt.IsZero() {
		r.Applied = &Stamped{s.Applied, s.AppliedAt}
	}
	if s.Last.Err != nil {
		r.Error = &Failure{
			Message: public(s.Last.Err), Reason: ReasonOf(s.Last.Err),
			Time: s.Last.Started.Add(s.Last.Duration),
		}
	}
	return r
}

// Register adds the endpoints of the loop:
//
//	/healthz, /-/healthy   200 while the process serves, any method
//	/readyz                200 after the inputs were used for the first time
//	/-/ready               200 while every server runs what is on disk, else 503
//	/api/v1/applied        the Report
//
// Probes should use /healthz or /readyz: a rejected configuration is no reason to take the
// pod of the server out of service.
func (l *Loop) Register(mux *http.ServeMux) {
	mux.HandleFunc("/healthz", httpserver.Up)
	mux.HandleFunc("/-/healthy", httpserver.Up)
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		state(w, l.used.Load() || l.Report().Current != nil) // probes do not wait for later steps, which may take long
	})
	mux.HandleFunc("/-/ready", func(w http.ResponseWriter, _ *http.Request) {
		state(w, l.Report().Ready)
	})
	mux.HandleFunc("GET /api/v1/applied", func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteJSON(w, http.StatusOK, l.Report())
	})
}

func state(w http.ResponseWriter, ready bool) {
	if ready {
		httpserver.WriteJSON(w, http.StatusOK, map[string]string{"status": "ready"})
		return
	}
	httpserver.WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "not ready"})
}

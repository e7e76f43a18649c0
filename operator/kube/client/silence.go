package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// By default, the API server ends each request except watches after a minute (--request-timeout). A response that takes
// longer was lost on the way, while a proxy or load balancer keeps the connection, so that the health check of the
// connection succeeds. These constants limit the time until a response begins, or continues. Lists get more time for
// large clusters: a list that always times out would prevent the start, whereas a lost one only delays it.
const (
	silence     = 90 * time.Second
	readSilence = 5 * time.Minute
)

// silentError means that a request was canceled because no part of its response arrived for a while.
type silentError struct{ After time.Duration }

func (e silentError) Error() string {
	return "no part of an answer came for " + e.After.String() + ", giving up"
}

// Timeout and Temporary implement [net.Error].
func (silentError) Timeout() bool   { return true }
func (silentError) Temporary() bool { return true }

// Impatient returns a transport that cancels requests without a response. A lost response would block the part of the
// operator that waits for it forever. The response to a watch must only begin. A watch that breaks ends normally
// ([watched]). Use it with [k8s.io/client-go/rest.Config.Wrap].
func Impatient(next http.RoundTripper) http.RoundTripper { return impatient{next} }

type impatient struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	after := silence
	if r.Method == http.MethodGet {
		after = readSilence
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	a := &answer{ctx: ctx, cancel: cancel, after: after, timer: time.AfterFunc(after, func() { cancel(silentError{after}) })}
	out, err := i.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		a.end()
		return nil, a.failure(err)
	}
	a.ReadCloser = out.Body
	if endless(r) {
		a.timer.Stop()
		out.Body = watched{a}
		return out, nil
	}
	a.timer.Reset(after)
	out.Body = a
	return out, nil
}

// WrappedRoundTripper returns the wrapped transport to client-go, which looks for the innermost one.
func (i impatient) WrappedRoundTripper() http.RoundTripper { return i.next }

// endless reports whether a response may take any time, as that of a watch.
func endless(r *http.Request) bool {
	return strings.Contains(r.URL.RawQuery, "watch=") && r.URL.Query().Get("watch") != "false"
}

// watched is the body of a watch. If a proxy or load balancer limits how long a request may last, all watches break
// again and again. Reflectors begin a new watch immediately after the end of a stream, also in the middle of an event.
// After other errors, such as a reset of an HTTP/2 stream, they wait, with pauses that grow to a minute and only start
// again after two minutes without an error: with a limit of a minute, changes would be noticed a minute late.
type watched struct{ *answer }

// Read implements io.Reader.
func (e watched) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// answer is the body of a response.
type answer struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	after  time.Duration // without a part of the answer
	timer  *time.Timer
}

// Read implements io.Reader.
func (a *answer) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	switch {
	case err != nil:
		a.timer.Stop()
	case n > 0:
		a.timer.Reset(a.after)
	}
	return n, a.failure(err)
}

// Close implements io.Closer.
func (a *answer) Close() error {
	defer a.end()
	return a.ReadCloser.Close()
}

func (a *answer) end() {
	a.timer.Stop()
	a.cancel(context.Canceled)
}

// failure returns the reason if the request was given up, and err otherwise.
func (a *answer) failure(err error) error {
	if silent, is := context.Cause(a.ctx).(silentError); is && err != nil && err != io.EOF {
		return silent
	}
	return err
}

package commands

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// patience is the time after which a user command reports what it waits for. Tests that
// compare output change it.
var patience = 2 * time.Second

const (
	// versionTimeout limits the first request to an API server.
	versionTimeout = 30 * time.Second
	// lastWords is the time that an interrupted command has to end by itself.
	lastWords = 500 * time.Millisecond
)

// interrupted is the exit code of a command that was ended by a signal.
const interrupted = 130

// serverVersion requests the version of an API server.
//
// Errors: it does not respond in time, or responds with an error; the context has ended.
func serverVersion(ctx context.Context, kube kubernetes.Interface) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionTimeout, fmt.Errorf("no answer within %s", versionTimeout))
	defer cancel()
	info, err := client.Within(ctx, kube.Discovery().ServerVersion)
	if err != nil {
		return "", err
	}
	return info.GitVersion, nil
}

// ends runs a command until it returns or is interrupted. A command that serves is always
// awaited. Others have a short time to return, and are then abandoned, for example while they
// wait for an API server or a file, or in a long computation.
func (c subcommand) ends(ctx context.Context, s streams) (code int, err error) {
	if c.serves {
		return c.run(ctx, s)
	}
	if !c.stays {
		footprint.Brief()
	}
	type result struct {
		code int
		err  error
	}
	done := make(chan result, 1)
	go func() {
		code, err := c.run(ctx, s)
		done <- result{code, err}
	}()
	select {
	case r := <-done:
		return r.code, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.code, r.err
	case <-time.After(lastWords):
		return interrupted, fmt.Errorf("interrupted")
	}
}

// notice prints a line after a delay, unless stop is called before.
func notice(w io.Writer, format string, args ...any) (stop func() bool) {
	return time.AfterFunc(patience, func() { fmt.Fprintf(w, format+"\n", args...) }).Stop
}

// reading prints a line if reading manifests takes long, unless stop is called before.
func (o *connection) reading(files ...string) (stop func() bool) {
	if o.progress == nil {
		return func() bool { return true }
	}
	if slices.ContainsFunc(files, standardInput) {
		return notice(o.progress, "waiting for standard input")
	}
	return notice(o.progress, "still working on %s", strings.Join(files, ", "))
}

// waits is a transport that reports, once, that a command waits for an API server because it
// does not respond or because it throttles requests.
type waits struct {
	next http.RoundTripper
	to   io.Writer
	once *sync.Once
}

// telling returns a function that wraps a transport in waits.
func telling(to io.Writer) func(http.RoundTripper) http.RoundTripper {
	once := &sync.Once{}
	return func(next http.RoundTripper) http.RoundTripper { return waits{next, to, once} }
}

// RoundTrip implements [http.RoundTripper].
func (w waits) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Scheme + "://" + r.URL.Host
	timer := time.AfterFunc(patience, func() { w.printOnce("waiting for %s", host) })
	out, err := w.next.RoundTrip(r)
	switch {
	case err != nil || r.URL.Query().Has("watch"):
		timer.Stop()
	case out.StatusCode == http.StatusTooManyRequests:
		timer.Stop()
		w.printOnce("waiting for %s, which answers that there are too many requests", host)
	default:
		out.Body = timedBody{out.Body, timer}
	}
	return out, err
}

func (w waits) printOnce(format string, args ...any) {
	w.once.Do(func() { fmt.Fprintf(w.to, format+"\n", args...) })
}

// WrappedRoundTripper returns the wrapped transport, for client-go, which looks for the
// innermost one.
func (w waits) WrappedRoundTripper() http.RoundTripper { return w.next }

// timedBody is a response body that stops a timer at its end.
type timedBody struct {
	io.ReadCloser
	timer *time.Timer
}

// Read implements [io.Reader].
func (a timedBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.timer.Stop()
	}
	return n, err
}

// Close implements [io.Closer].
func (a timedBody) Close() error {
	a.timer.Stop()
	return a.ReadCloser.Close()
}

// serial is a writer that is safe for concurrent use.
type serial struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements [io.Writer].
func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

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

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// patience is how long a command for people is silent. Tests that compare output change it.
var patience = 2 * time.Second

const (
	// versionTimeout bounds the first call to an API server.
	versionTimeout = 30 * time.Second
	// lastWords is how long a command that was interrupted has to end by itself.
	lastWords = 500 * time.Millisecond
)

// interrupted is the exit code of a command that a signal ended.
const interrupted = 130

// serverVersion asks an API server for its version.
//
// Errors: it does not answer in time, or with an error; the context has ended.
func serverVersion(ctx context.Context, kube kubernetes.Interface) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionTimeout, fmt.Errorf("no answer within %s", versionTimeout))
	defer cancel()
	info, err := client.Within(ctx, kube.Discovery().ServerVersion)
	if err != nil {
		return "", err
	}
	return info.GitVersion, nil
}

// ends runs a command until it returns or is interrupted. A command that serves ends by
// itself, however long that takes; others have a moment for it: a command that waits for an
// API server, a file or the end of a long computation is left where it is.
func (c subcommand) ends(ctx context.Context, s streams) (code int, err error) {
	if c.serves {
		return c.run(ctx, s)
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

// notice prints a line once a command has been silent for some time, unless stop is called
// before.
func notice(w io.Writer, format string, args ...any) (stop func() bool) {
	return time.AfterFunc(patience, func() { fmt.Fprintf(w, format+"\n", args...) }).Stop
}

// reading prints a line once manifests have taken some time, unless stop is called before.
func (o *Options) reading(files ...string) (stop func() bool) {
	if o.told == nil {
		return func() bool { return true }
	}
	if slices.ContainsFunc(files, standardInput) {
		return notice(o.told, "waiting for standard input")
	}
	return notice(o.told, "still working on %s", strings.Join(files, ", "))
}

// waits tells on stderr, once, that an API server lets a command wait: it does not answer, or
// answers that there are too many requests.
type waits struct {
	next http.RoundTripper
	to   io.Writer
	once *sync.Once
}

// telling returns what wraps a transport so.
func telling(to io.Writer) func(http.RoundTripper) http.RoundTripper {
	once := &sync.Once{}
	return func(next http.RoundTripper) http.RoundTripper { return waits{next, to, once} }
}

// RoundTrip implements http.RoundTripper.
func (w waits) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Scheme + "://" + r.URL.Host
	timer := time.AfterFunc(patience, func() { w.tell("waiting for %s", host) })
	out, err := w.next.RoundTrip(r)
	switch {
	case err != nil || r.URL.Query().Has("watch"):
		timer.Stop()
	case out.StatusCode == http.StatusTooManyRequests:
		timer.Stop()
		w.tell("waiting for %s, which answers that there are too many requests", host)
	default:
		out.Body = awaited{out.Body, timer}
	}
	return out, err
}

func (w waits) tell(format string, args ...any) {
	w.once.Do(func() { fmt.Fprintf(w.to, format+"\n", args...) })
}

// WrappedRoundTripper is for client-go, which looks for the innermost transport.
func (w waits) WrappedRoundTripper() http.RoundTripper { return w.next }

// awaited is a body whose end is waited for.
type awaited struct {
	io.ReadCloser
	timer *time.Timer
}

// Read implements io.Reader.
func (a awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.timer.Stop()
	}
	return n, err
}

// Close implements io.Closer.
func (a awaited) Close() error {
	a.timer.Stop()
	return a.ReadCloser.Close()
}

// serial is a writer for several goroutines.
type serial struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

package reload

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// readyTimeout limits the readiness check, to which a working server responds immediately.
	readyTimeout = 2 * time.Second
	// patience is the time for which a server may be "not ready" before a request is sent anyway. The
	// server holds it until it can reload, and a server with a broken readiness endpoint would otherwise
	// never be reloaded.
	patience = time.Minute
	// holdFactor times the timeout is how long a request without a response blocks the next one.
	holdFactor = 5
	// clockSlack is the tolerated difference between two clocks behind one URL (a proxy's and the
	// server's).
	clockSlack = 5 * time.Second
)

// HTTPOptions configure a reload endpoint.
type HTTPOptions struct {
	URL    *url.URL
	Method string // empty means POST
	// Success has the status codes of a success; empty means 200.
	Success []int
	Client  ClientOptions
	// Ready is checked before each request: 503 means that the server is still starting. With nil, or
	// after any other response, the request is sent.
	Ready *url.URL
	// Info verifies the outcome; nil trusts the status code.
	Info *RuntimeInfo
	// InfoOptional ignores an Info endpoint whose response is not that of a Prometheus.
	InfoOptional bool
	// OnResponse is called with the status code of every response of the endpoint, and the time since the request
	// began; may be nil.
	OnResponse func(status int, took time.Duration)
}

// HTTP reloads a server with a request. At most one request is in flight at a time.
type HTTP struct {
	opts          HTTPOptions
	open          *exchange // sent, but without a response within the timeout
	notReadySince time.Time

	loaded time.Time // load time that the server reported last
	skewed bool      // it was measured by another clock than the readiness response
}

// NewHTTP returns the trigger for one endpoint.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.Method == "" {
		o.Method = http.MethodPost
	}
	if len(o.Success) == 0 {
		o.Success = []int{http.StatusOK}
	}
	return &HTTP{opts: o}
}

// Reload makes one attempt, see [Trigger].
//
// A request without a response within the timeout stays in flight: the server may still be processing
// it, and a second request would reload twice. Until its response arrives, later attempts only wait for
// it.
func (h *HTTP) Reload(ctx context.Context, r Request) error {
	if x := h.open; x != nil {
		if !h.wait(ctx, x) {
			return h.stillOpen(ctx, x)
		}
		h.open = nil
		if x.version == r.Version && !x.stale() {
			return h.outcome(ctx, x)
		}
	}
	asked, err := h.checkReady(ctx)
	if err != nil {
		return err
	}
	x, err := h.send(ctx, r, asked)
	if err != nil {
		return err
	}
	if h.wait(ctx, x) {
		return h.outcome(ctx, x)
	}
	if !x.wrote.Load() || ctx.Err() != nil {
		x.stop()
		return fail(Unreachable, "%s %s: no connection within %s", h.opts.Method, Redact(h.opts.URL), h.opts.Client.Timeout)
	}
	h.open = x
	return fail(Timeout, "%s %s: no answer within %s; the server may still do it, so the next request waits for the answer",
		h.opts.Method, Redact(h.opts.URL), h.opts.Client.Timeout)
}

// exchange is an in-flight request.
type exchange struct {
	version string
	newer   <-chan struct{} // Request.Superseded
	started time.Time
	asked   time.Time // the server's clock shortly before the request, zero if unknown
	cancel  context.CancelFunc
	wrote   atomic.Bool   // the request left this process
	done    chan struct{} // closed when answer is set
	answer  answer
}

// stop cancels the request and waits until it has ended.
func (x *exchange) stop() {
	x.cancel()
	<-x.done
}

// stale reports whether other content existed after the request was sent. The server may have loaded that, even
// if the content is the same again.
func (x *exchange) stale() bool {
	select {
	case <-x.newer:
		return true
	default:
		return false
	}
}

// wait reports whether the response to x arrived in time.
func (h *HTTP) wait(ctx context.Context, x *exchange) bool {
	timeout := time.NewTimer(h.opts.Client.Timeout)
	defer timeout.Stop()
	select {
	case <-x.done:
		return true
	case <-ctx.Done():
		return false
	case <-timeout.C:
		return false
	}
}

// stillOpen decides whether to give up a request that exceeded another timeout. A server that is not
// ready holds requests until it has started.
func (h *HTTP) stillOpen(ctx context.Context, x *exchange) error {
	age := time.Since(x.started)
	if ctx.Err() == nil && (age < holdFactor*h.opts.Client.Timeout || h.saysNotReady(ctx)) {
		return fail(Timeout, "%s %s: still no answer after %s", h.opts.Method, Redact(h.opts.URL), age.Round(time.Second/10))
	}
	x.stop()
	h.open = nil
	return fail(Timeout, "%s %s: given up after %s without an answer", h.opts.Method, Redact(h.opts.URL), age.Round(time.Second/10))
}

// checkReady checks readiness. It returns the server's clock, or an error if no request should be sent.
func (h *HTTP) checkReady(ctx context.Context) (asked time.Time, err error) {
	if h.opts.Ready == nil {
		return asked, nil
	}
	res, err := h.getReady(ctx)
	if err != nil {
		if ReasonOf(err) != "" || ctx.Err() != nil {
			h.notReadySince = time.Time{} // it starts again
			return asked, err
		}
		return asked, nil // no response in time: the outcome of the request decides
	}
	if res.StatusCode != http.StatusServiceUnavailable {
		h.notReadySince = time.Time{}
		asked, _ = http.ParseTime(res.Header.Get("Date"))
		return asked, nil
	}
	if h.notReadySince.IsZero() {
		h.notReadySince = time.Now()
	}
	if time.Since(h.notReadySince) < patience {
		return asked, fail(NotReady, "%s answers %s", Redact(h.opts.Ready), res.Status)
	}
	return asked, nil
}

func (h *HTTP) saysNotReady(ctx context.Context) bool {
	if h.opts.Ready == nil {
		return false
	}
	res, err := h.getReady(ctx)
	return err == nil && res.StatusCode == http.StatusServiceUnavailable
}

// getReady returns the readiness response without its body. An error with a Reason is final for this
// attempt; one without means that no response arrived in time.
func (h *HTTP) getReady(ctx context.Context) (*http.Response, error) {
	limit := min(h.opts.Client.Timeout, readyTimeout)
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := h.opts.Client.client(ctx)
	if err != nil {
		return nil, err
	}
	req, err := h.opts.Client.request(asking, http.MethodGet, h.opts.Ready)
	if err != nil {
		return nil, err
	}
	res, err := c.Do(req)
	switch {
	case asking.Err() != nil && ctx.Err() == nil:
		return nil, asking.Err()
	case err != nil:
		return nil, fail(Unreachable, "GET %s: %w", Redact(h.opts.Ready), withoutURL(err))
	}
	res.Body.Close()
	return res, nil
}

// send starts the request. The exchange reports its end.
func (h *HTTP) send(ctx context.Context, r Request, asked time.Time) (*exchange, error) {
	c, err := h.opts.Client.client(ctx)
	if err != nil {
		return nil, err
	}
	x := &exchange{version: r.Version, newer: r.Superseded, started: time.Now(), asked: asked, done: make(chan struct{})}
	ctx, x.cancel = context.WithCancel(ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) { x.wrote.Store(i.Err == nil) },
	})
	req, err := h.opts.Client.request(ctx, h.opts.Method, h.opts.URL)
	if err != nil {
		x.cancel()
		return nil, err
	}
	go func() {
		defer close(x.done)
		defer x.cancel()
		x.answer = read(c.Do(req))
		if x.answer.err == nil && h.opts.OnResponse != nil {
			h.opts.OnResponse(x.answer.status, time.Since(x.started))
		}
	}()
	return x, nil
}

// isLoad reports whether the server loaded the content at this time because of x. With one clock, the time of the load is
// not before that of the readiness check; both are in whole seconds. An earlier time that differs from that of the previous
// load comes from a second clock, as behind a proxy. From then on, isLoad compares only with the previous load.
func (h *HTTP) isLoad(x *exchange, at time.Time) bool {
	changed := !h.loaded.IsZero() && !at.Equal(h.loaded)
	h.loaded = at
	if x.asked.IsZero() || !h.skewed && !at.Before(x.asked.Add(-clockSlack)) {
		return true
	}
	h.skewed = h.skewed || changed
	return changed
}

// outcome converts the response into the outcome of the attempt.
func (h *HTTP) outcome(ctx context.Context, x *exchange) error {
	what := h.opts.Method + " " + Redact(h.opts.URL)
	a := x.answer
	switch {
	case a.err != nil && x.wrote.Load():
		return fail(Unverified, "%s: no answer, although the request was sent; the server may still do it: %w", what, a.err)
	case a.err != nil:
		return fail(Unreachable, "%s: %w", what, a.err)
	}
	if !slices.Contains(h.opts.Success, a.status) {
		return &Error{Reason: Rejected, Err: fmt.Errorf("%s: %s", what, a.describe()), Said: a.excerpt}
	}
	if h.opts.Info == nil {
		return nil
	}
	state, err := h.opts.Info.get(ctx)
	switch {
	case err != nil && h.opts.InfoOptional:
		return nil
	case err != nil:
		return fail(Unverified, "%s: answered %s, but the outcome could not be verified: %w", what, a.text, err)
	case !state.OK:
		return fail(Rejected, "%s: answered %s, but the server reports %s", what, a.text, state)
	case !h.isLoad(x, state.At):
		return fail(Rejected, "%s: answered %s, but the server still runs what it loaded before (%s)", what, a.text, state)
	}
	return nil
}

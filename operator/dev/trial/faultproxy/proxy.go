// Package faultproxy is a proxy between one client and an API server. It counts the client's requests and disturbs
// them.
//
//	p, err := faultproxy.New(upstream, ca)
//	p.Disturb(faultproxy.Refuse(...))      // until the next call of Disturb
//	p.Disturb(nil)
//	p.Counts()                             // requests so far, by verb and resource
package faultproxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Fault decides what happens to a request. forward sends it to the API server and copies the response.
type Fault func(w http.ResponseWriter, r *http.Request, call Call, forward http.HandlerFunc)

// Proxy is a running proxy. Create it with [New].
type Proxy struct {
	server  *httptest.Server
	forward *httputil.ReverseProxy
	info    request.RequestInfoResolver

	mu      sync.Mutex
	fault   Fault
	counts  map[Call]int // all requests since the last Reset; objects of the client count one by one
	flight  map[Call]int // unfinished requests other than watches
	watches map[*stream]bool
	open    chan struct{} // closed while watches deliver
	ended   chan struct{} // closed and replaced whenever a request ends
}

// stream is one watch.
type stream struct {
	http.ResponseWriter
	proxy *Proxy
	ctx   context.Context
	end   context.CancelFunc
}

// New starts a proxy to the API server at this URL, whose certificate ca (PEM) signs.
func New(upstream string, ca []byte) (*Proxy, error) {
	target, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("API server: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("CA of the API server: no certificate")
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableCompression: true,
		IdleConnTimeout: time.Minute,
	}
	p := &Proxy{
		forward: &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			Transport:     transport,
			FlushInterval: -1,
			ErrorLog:      log.New(io.Discard, "", 0),
			ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		},
		info:    &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		counts:  map[Call]int{},
		flight:  map[Call]int{},
		watches: map[*stream]bool{},
		open:    make(chan struct{}), ended: make(chan struct{}),
	}
	close(p.open)
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = true
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.StartTLS()
	return p, nil
}

// URL is the address of the proxy.
func (p *Proxy) URL() string { return p.server.URL }

// CA is the certificate of the proxy, as PEM.
func (p *Proxy) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
}

// Close ends all requests and stops the proxy.
func (p *Proxy) Close() {
	p.Disturb(nil)
	p.EndWatches()
	p.server.CloseClientConnections()
	p.server.Close()
}

// Disturb applies a fault to all requests that arrive from now on; nil for none.
func (p *Proxy) Disturb(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := p.callOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fault := p.begin(call)
	defer p.finish(call)
	forward := p.forward.ServeHTTP
	if call.Watches() {
		forward = p.stream
	}
	if fault == nil {
		forward(w, r)
		return
	}
	fault(w, r, call, forward)
}

func (p *Proxy) begin(c Call) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[c]++
	if c.Verb != "watch" {
		p.flight[c]++
	}
	return p.fault
}

func (p *Proxy) finish(c Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Verb != "watch" {
		if p.flight[c]--; p.flight[c] == 0 {
			delete(p.flight, c)
		}
	}
	close(p.ended)
	p.ended = make(chan struct{})
}

// Reset returns the requests since the last Reset.
func (p *Proxy) Reset() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.counts
	p.counts = map[Call]int{}
	return out
}

// Counts returns the requests since the last Reset.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Counts{}
	for c, n := range p.counts {
		out[c] = n
	}
	return out
}

// Unfinished returns the requests without watches that are not finished.
func (p *Proxy) Unfinished() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts(p.flight).Strings(Any)
}

// Quiet waits until no request but watches is unfinished.
func (p *Proxy) Quiet(ctx context.Context) error {
	for {
		p.mu.Lock()
		left, ended := Counts(p.flight).Strings(func(Call) bool { return true }), p.ended
		p.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("unfinished requests %q: %w", left, ctx.Err())
		case <-ended:
		}
	}
}

// stream forwards a watch until the client or [Proxy.EndWatches] ends it.
func (p *Proxy) stream(w http.ResponseWriter, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	s := &stream{w, p, ctx, end}
	p.mu.Lock()
	p.watches[s] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watches, s)
	}()
	p.forward.ServeHTTP(s, r.WithContext(ctx))
}

// Write delivers a part of a watch, unless watches are held.
func (s *stream) Write(b []byte) (int, error) {
	s.proxy.mu.Lock()
	open := s.proxy.open
	s.proxy.mu.Unlock()
	select {
	case <-open:
		return s.ResponseWriter.Write(b)
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// WriteHeader sends the header at once, so that the client sees that the watch has begun.
func (s *stream) WriteHeader(code int) {
	s.ResponseWriter.WriteHeader(code)
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}

// Unwrap returns the writer for http.ResponseController.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// EndWatches ends all watches in the middle of what they send, and returns their number.
func (p *Proxy) EndWatches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.watches {
		s.end()
	}
	return len(p.watches)
}

// HoldWatches lets connections of watches exist without delivering anything until release is called, which delivers
// all of it.
func (p *Proxy) HoldWatches() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.open = held
	return sync.OnceFunc(func() { close(held) })
}

// EndConnections closes all connections of the client.
func (p *Proxy) EndConnections() { p.server.CloseClientConnections() }

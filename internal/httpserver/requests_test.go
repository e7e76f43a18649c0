package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// endless writes until a write fails, and records the source of the request and the error.
type endless struct{ ended chan ended }

type ended struct {
	host string
	err  error
	ctx  error
}

func (e endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	for part := make([]byte, 1<<20); err == nil; {
		_, err = w.Write(part)
	}
	e.ended <- ended{hostOf(r.RemoteAddr), err, r.Context().Err()}
}

// fromHost serves requests as if the header Host was the address of their client.
func fromHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = r.Host
		next.ServeHTTP(w, r)
	})
}

// request sends a request from an address and does not read the response.
func request(t *testing.T, srv *httptest.Server, from string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+from+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

// Clients that never read hold a limited number of responses, and not those of other addresses.
func TestSlowReaders(t *testing.T) {
	h := endless{make(chan ended, 10)}
	srv := httptest.NewServer(fromHost(Limit(3, h)))
	t.Cleanup(srv.Close) // after the connections were closed
	other := request(t, srv, "10.0.0.2")
	if _, err := other.Read(make([]byte, 1)); err != nil { // it is being answered
		t.Fatal(err)
	}
	for range 5 {
		request(t, srv, "10.0.0.1")
	}
	for range 3 {
		if got := <-h.ended; got.host != "10.0.0.1" || !errors.Is(got.err, os.ErrDeadlineExceeded) || !errors.Is(got.ctx, context.Canceled) {
			t.Errorf("ended: %+v", got)
		}
	}
	if _, err := io.ReadFull(other, make([]byte, 8<<20)); err != nil {
		t.Errorf("the request of another address: %v", err)
	}
}

// The end of a request does not end the next one in its connection.
func TestAbortedTooLate(t *testing.T) {
	var first *activeRequest
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if first != nil {
			first.abort()
		}
		if r.Context().Err() != nil {
			t.Error("the request was canceled")
		}
	}))
	defer srv.Close()
	inner := srv.Config.Handler
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := &activeRequest{control: http.NewResponseController(w), cancel: func() {}}
		inner.ServeHTTP(w, r)
		if own.end(); first == nil {
			first = own
		}
	})
	for range 2 {
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}

// A client of HTTP/2 that lets the server send nothing holds a limited number of requests, even if their handlers have
// returned.
func TestNoWindow(t *testing.T) {
	const most, more = 5, 20
	srv := httptest.NewUnstartedServer(Limit(most, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	})))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(c, c)
	if err := f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(most + more) {
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: getHeaders(t), EndStream: true, EndHeaders: true}); err != nil {
			t.Fatal(err)
		}
	}
	for aborted := 0; aborted < more; {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatalf("%v after %d aborted requests", err, aborted)
		}
		if frame.Header().Type == http2.FrameRSTStream {
			aborted++
		}
	}
}

// getHeaders returns the headers of a request for /.
func getHeaders(t *testing.T) []byte {
	t.Helper()
	var out fragment
	e := hpack.NewEncoder(&out)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", "/"}} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true}); err != nil { // not indexed: each request has its own encoder
			t.Fatal(err)
		}
	}
	return out
}

type fragment []byte

func (f *fragment) Write(p []byte) (int, error) {
	*f = append(*f, p...)
	return len(p), nil
}

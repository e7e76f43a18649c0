package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// slow answers after a while, and sends each part of the body after a while.
type slow struct {
	header time.Duration
	parts  []time.Duration
	closed *bool
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := pause(r.Context(), s.header); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: &slowBody{s, r.Context()}}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type slowBody struct {
	slow
	ctx context.Context
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	if err := pause(b.ctx, b.parts[0]); err != nil {
		return 0, err
	}
	b.parts = b.parts[1:]
	return copy(p, "x"), nil
}

func (b *slowBody) Close() error { *b.closed = true; return nil }

func TestImpatient(t *testing.T) {
	const minute = time.Minute
	for name, tc := range map[string]struct {
		method string // GET if it is empty
		url    string
		slow   slow
		silent time.Duration // after that long
		want   string
	}{
		"answered":             {url: "/api/v1/pods", slow: slow{header: 4 * minute, parts: []time.Duration{4 * minute, minute, 4 * minute}}, want: "xxx"},
		"no answer":            {url: "/api/v1/pods", slow: slow{header: 10 * minute}, silent: 5 * minute},
		"no end of an answer":  {url: "/api/v1/pods", slow: slow{parts: []time.Duration{4 * minute, 10 * minute}}, silent: 9 * minute, want: "x"},
		"no watch":             {url: "/api/v1/pods?watch=false", slow: slow{header: 10 * minute}, silent: 5 * minute},
		"written":              {method: http.MethodPatch, url: "/api/v1/pods", slow: slow{header: minute, parts: []time.Duration{minute}}, want: "x"},
		"write without answer": {method: http.MethodPatch, url: "/api/v1/pods", slow: slow{header: 10 * minute}, silent: 90 * time.Second},
		"write without end":    {method: http.MethodPut, url: "/api/v1/pods", slow: slow{header: minute, parts: []time.Duration{10 * minute}}, silent: 150 * time.Second},
		"watch":                {url: "/api/v1/pods?watch=true", slow: slow{header: 4 * minute, parts: []time.Duration{10 * minute, time.Hour}}, want: "xx"},
		"watch without answer": {url: "/api/v1/pods?watch=true", slow: slow{header: 10 * minute}, silent: 5 * minute},
		"watch in other words": {url: "/api/v1/pods?resourceVersion=1&watch=1", slow: slow{parts: []time.Duration{time.Hour}}, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := false
				tc.slow.closed = &closed
				began := time.Now()
				out, err := Impatient(tc.slow).RoundTrip(httptest.NewRequestWithContext(t.Context(), cmp.Or(tc.method, http.MethodGet), tc.url, nil))
				var text []byte
				if err == nil {
					text, err = io.ReadAll(out.Body)
					if failed := out.Body.Close(); failed != nil || !closed {
						t.Errorf("closed %t, %v", closed, failed)
					}
				}
				network, is := errors.AsType[net.Error](err)
				if silent := is && network.Timeout(); silent != (tc.silent > 0) || !silent && err != nil || string(text) != tc.want {
					t.Errorf("%q, %v", text, err)
				}
				if took := time.Since(began); tc.silent > 0 && took != tc.silent {
					t.Errorf("given up after %s, not %s", took, tc.silent)
				}
			})
		})
	}
}

// A watch whose connection breaks ends like one whose stream was cut off, for any error. Its regular end is not
// changed.
func TestBrokenWatchEnds(t *testing.T) {
	for name, err := range map[string]error{
		"stream reset": http2.StreamError{StreamID: 1, Code: http2.ErrCodeInternal}, "reset by peer": syscall.ECONNRESET,
		"cut off": io.ErrUnexpectedEOF, "connection lost": errors.New("http2: client connection lost"),
	} {
		t.Run(name, func(t *testing.T) {
			send := func(err error) error {
				out, failed := Impatient(answering(func(*http.Request) io.ReadCloser {
					return io.NopCloser(io.MultiReader(strings.NewReader("{}"), iotest.ErrReader(err)))
				})).RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/pods?watch=1", nil))
				if failed != nil {
					t.Fatal(failed)
				}
				defer out.Body.Close()
				text, err := io.ReadAll(out.Body)
				if string(text) != "{}" {
					t.Errorf("%q", text)
				}
				return err
			}
			if got := send(err); got != io.ErrUnexpectedEOF {
				t.Error(got)
			}
			if got := send(io.EOF); got != nil {
				t.Error(got)
			}
		})
	}
}

type answering func(r *http.Request) io.ReadCloser

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: a(r)}, nil
}

// A request that its caller cancels ends with the caller's error.
func TestImpatientCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Impatient(slow{header: time.Hour}).RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/pods", nil))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

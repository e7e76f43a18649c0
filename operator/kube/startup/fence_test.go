package startup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// api is a transport with slow responses.
type api struct {
	takes time.Duration
	got   []string
	ended error // context error of the last request
}

func (a *api) RoundTrip(req *http.Request) (*http.Response, error) {
	a.got = append(a.got, req.Method+" "+req.URL.Path)
	select {
	case <-time.After(a.takes):
		return &http.Response{Body: io.NopCloser(strings.NewReader("ok"))}, nil
	case <-req.Context().Done():
		a.ended = req.Context().Err()
		return nil, a.ended
	}
}

// send makes a request and reads the response.
func send(ctx context.Context, rt http.RoundTripper, method, path string) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://api"+path, strings.NewReader("body"))
	if err != nil {
		return err
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.ReadAll(resp.Body)
	return errors.Join(err, resp.Body.Close())
}

func TestFenceLetsReadsThrough(t *testing.T) {
	f, next := newFence(8*time.Second), &api{}
	rt := f.wrap(next)
	for request, want := range map[string]error{
		"GET /a": nil, "HEAD /a": nil, "POST /a": errNotLeading, "PUT /a": errNotLeading, "PATCH /a": errNotLeading, "DELETE /a": errNotLeading,
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": nil,
	} {
		method, path, _ := strings.Cut(request, " ")
		if err := send(t.Context(), rt, method, path); !errors.Is(err, want) {
			t.Errorf("%s: %v", request, err)
		}
	}
	f.renewed(time.Now())
	if err := send(t.Context(), rt, "PUT", "/a"); err != nil || len(next.got) != 4 {
		t.Errorf("after a renewal: %v; sent %v", err, next.got)
	}
}

// A renewal is valid for one term from the start of its request.
func TestFenceTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFence(8 * time.Second)
		began := time.Now()
		time.Sleep(5 * time.Second) // until the response
		f.renewed(began)
		time.Sleep(2 * time.Second)
		if !f.open() {
			t.Error("closed after 7s")
		}
		f.renewed(began.Add(-time.Hour)) // an out-of-order response
		f.renewed(began.Add(6 * time.Second))
		time.Sleep(6 * time.Second)
		if !f.open() {
			t.Error("closed 7s after the second renewal began")
		}
		time.Sleep(2 * time.Second)
		if f.open() || f.lost.Err() == nil {
			t.Error("open 9s after the last renewal")
		}
		f.renewed(time.Now())
		if f.open() {
			t.Error("a lost lead came back")
		}
	})
}

// In-flight writes finish although their context is canceled, and close waits for them;
// later writes are rejected.
func TestFenceStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, next := newFence(8*time.Second), &api{takes: 3 * time.Second}
		rt := f.wrap(next)
		f.renewed(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- send(ctx, rt, "PUT", "/a") }()
		synctest.Wait()
		cancel()
		if err := send(ctx, rt, "PUT", "/late"); !errors.Is(err, context.Canceled) {
			t.Errorf("a write of who was told to stop: %v", err)
		}
		if f.mayRelease() {
			t.Error("others may lead while a write is under way")
		}
		began := time.Now()
		f.close()
		if took := time.Since(began); took != 3*time.Second || !f.mayRelease() {
			t.Errorf("closed after %s, others may lead: %t", took, f.mayRelease())
		}
		if err := <-answer; err != nil {
			t.Errorf("the write under way: %v", err)
		}
		if err := send(t.Context(), rt, "PUT", "/b"); !errors.Is(err, errNotLeading) || len(next.got) != 1 {
			t.Errorf("after closing: %v, sent %v", err, next.got)
		}
	})
}

// A write without a response delays a stop by at most writeGrace.
func TestFenceGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, next := newFence(time.Minute), &api{takes: time.Hour}
		f.renewed(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = send(ctx, f.wrap(next), "PUT", "/a") }()
		synctest.Wait()
		cancel()
		began := time.Now()
		f.close()
		if took := time.Since(began); took != writeGrace || !errors.Is(next.ended, context.Canceled) {
			t.Errorf("closed after %s: %v", took, next.ended)
		}
	})
}

// In-flight writes are canceled when the term ends, which leaves the rest of the Lease as a
// margin for them to arrive, and the Lease is not released.
func TestFenceLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, next := newFence(8*time.Second), &api{takes: time.Hour}
		began := time.Now()
		f.renewed(began)
		time.Sleep(7 * time.Second)
		if err := send(t.Context(), f.wrap(next), "PATCH", "/a"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("canceled after %s", took)
		}
		f.close()
		if f.mayRelease() {
			t.Error("others may lead at once")
		}
	})
}

// The deadline of the caller applies.
func TestFenceDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, next := newFence(time.Minute), &api{takes: time.Hour}
		f.renewed(time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		if err := send(ctx, f.wrap(next), "PUT", "/a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		f.close()
	})
}

// The Lease is released only when no write can arrive at the API server.
func TestFenceRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFence(8 * time.Second)
		h := &holder{lease: &lease{}, name: "a"}
		w := observedLease{h, f}
		if err := w.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "a"}); err != nil || !f.open() {
			t.Fatalf("%v, open: %t", err, f.open())
		}
		released := resourcelock.LeaderElectionRecord{}
		if err := w.Update(t.Context(), released); !errors.Is(err, errNotReleased) || h.record.HolderIdentity != "a" {
			t.Errorf("released while writes are let through: %v", err)
		}
		f.close()
		if err := w.Update(t.Context(), released); err != nil || h.record.HolderIdentity != "" {
			t.Errorf("not released: %v", err)
		}
	})
}

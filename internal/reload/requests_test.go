package reload

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// While a reload request is held back, attempts after the timeout wait for it instead of
// sending another one.
func TestOneRequestAtATime(t *testing.T) {
	var open, most atomic.Int64
	release := make(chan int)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" {
			return
		}
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		w.WriteHeader(<-release)
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	for i := range 3 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout {
			t.Fatalf("attempt %d = %v, want a timeout", i, err)
		}
	}
	outcome := make(chan error)
	h.opts.Client.Timeout = patienceInTests
	reload := func(version string) { outcome <- h.Reload(context.Background(), Request{Version: version}) }

	go reload("a")
	release <- 500
	if err := <-outcome; ReasonOf(err) != Rejected {
		t.Errorf("the late answer became %v, want the refusal", err)
	}

	h.opts.Client.Timeout = shortInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout {
		t.Fatalf("Reload = %v", err)
	}
	h.opts.Client.Timeout = patienceInTests
	go reload("b")
	release <- 200 // the response for a must not count for b
	release <- 200
	if err := <-outcome; err != nil {
		t.Errorf("Reload of the newer content = %v", err)
	}
	if most.Load() != 1 {
		t.Errorf("%d requests were open at once", most.Load())
	}
	posts := 0
	for _, r := range s.requests() {
		if r == "POST /-/reload" {
			posts++
		}
	}
	if posts != 3 {
		t.Errorf("%d requests sent, want 3: %v", posts, s.requests())
	}
}

// The response to a request for content that was replaced and then restored does not count, because the server may have
// loaded the content in between.
func TestLateAnswerForContentThatCameBack(t *testing.T) {
	release := make(chan int)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			w.WriteHeader(<-release)
		}
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	replaced := make(chan struct{})
	if err := h.Reload(t.Context(), Request{Version: "a", Superseded: replaced}); ReasonOf(err) != Timeout {
		t.Fatalf("Reload = %v, want a timeout", err)
	}
	close(replaced) // by b, and that by a
	h.opts.Client.Timeout = patienceInTests
	outcome := make(chan error)
	go func() {
		outcome <- h.Reload(context.Background(), Request{Version: "a", Superseded: make(chan struct{})})
	}()
	release <- 200
	select {
	case release <- 200:
		if err := <-outcome; err != nil {
			t.Errorf("Reload = %v", err)
		}
	case err := <-outcome:
		t.Errorf("Reload = %v without another request", err)
	}
}

func TestHungServerIsGivenUpInTheEnd(t *testing.T) {
	var posts atomic.Int64
	stop := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" && posts.Add(1) == 1 {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		}
	})
	defer close(stop)
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	h := NewHTTP(o)
	for range 2 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open == nil {
			t.Fatalf("Reload = %v", err)
		}
	}
	h.open.started = time.Now().Add(-time.Hour)
	if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open != nil {
		t.Errorf("the request was not given up: %v", err)
	}
	h.opts.Client.Timeout = patienceInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); err != nil || posts.Load() != 2 {
		t.Errorf("after %d requests: %v", posts.Load(), err)
	}
}

func TestServerThatIsNotReadyKeepsItsRequest(t *testing.T) {
	var posts atomic.Int64
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" {
			w.WriteHeader(503)
			return
		}
		posts.Add(1)
		<-release
	})
	o := prometheus(t, s.URL)
	o.Client.Timeout = shortInTests
	o.Info = nil
	h := NewHTTP(o)
	h.notReadySince = time.Now().Add(-2 * patience)
	for range 3 {
		if err := h.Reload(t.Context(), Request{Version: "a"}); ReasonOf(err) != Timeout || h.open == nil {
			t.Fatalf("Reload = %v", err)
		}
		h.open.started = time.Now().Add(-time.Hour)
	}
	close(release)
	h.opts.Client.Timeout = patienceInTests
	if err := h.Reload(t.Context(), Request{Version: "a"}); err != nil || posts.Load() != 1 {
		t.Errorf("after %d requests: %v", posts.Load(), err)
	}
}

// Behind a proxy whose clock is ahead, a load looks older than the request for it. It is recognized when the load time
// changes.
func TestTwoClocksBehindOneURL(t *testing.T) {
	var loads atomic.Int64
	var stuck atomic.Bool
	start := time.Now()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST" && !stuck.Load():
			loads.Add(1)
		case r.URL.Path == "/-/ready":
			w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		case r.URL.Path == infoPath:
			fmt.Fprint(w, info(true, start.Add(time.Duration(loads.Load())*time.Second)))
		}
	})
	h := NewHTTP(prometheus(t, s.URL))
	for i, step := range []struct {
		version string
		stuck   bool
		want    Reason
	}{
		{"a", false, Rejected}, {"a", false, ""}, {"b", false, ""}, {"c", true, Rejected}, {"c", true, Rejected}, {"c", false, ""}, {"d", false, ""},
	} {
		stuck.Store(step.stuck)
		if err := h.Reload(t.Context(), Request{Version: step.version}); ReasonOf(err) != step.want || (err == nil) != (step.want == "") {
			t.Errorf("step %d: %v, want %q", i, err, step.want)
		}
	}
}

// A server that ends and starts again has the whole time to become ready.
func TestPatienceBeginsWithEachStart(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	h := NewHTTP(prometheus(t, s.URL))
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != NotReady {
		t.Fatalf("Reload = %v", err)
	}
	h.notReadySince = h.notReadySince.Add(-2 * patience)
	up := h.opts.Ready
	h.opts.Ready = mustURL(t, "http://127.0.0.1:1/-/ready")
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != Unreachable {
		t.Fatalf("Reload = %v", err)
	}
	h.opts.Ready = up
	if err := h.Reload(t.Context(), Request{}); ReasonOf(err) != NotReady {
		t.Errorf("Reload = %v, want another wait", err)
	}
}

func TestEndOfContextEndsTheRequest(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			close(arrived)
			<-r.Context().Done()
			close(gone)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if err := NewHTTP(prometheus(t, s.URL)).Reload(ctx, Request{}); err == nil {
		t.Error("no error")
	}
	select {
	case <-gone:
	case <-time.After(patienceInTests):
		t.Error("the request went on")
	}
}

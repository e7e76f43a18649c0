package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// following is an open stream.
type following struct {
	t    *testing.T
	resp *http.Response
	read *bufio.Scanner
}

func follow(t *testing.T, srv *httptest.Server, token string) *following {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	return &following{t, resp, bufio.NewScanner(resp.Body)}
}

// next returns the next event, "workload Prometheus demo/main"; empty at the end of the stream.
// Heartbeats are skipped.
func (f *following) next() string {
	name := ""
	for f.read.Scan() {
		line := f.read.Text()
		if after, ok := strings.CutPrefix(line, "event: "); ok {
			name = after
		}
		if after, ok := strings.CutPrefix(line, "data: "); ok {
			return name + " " + after
		}
	}
	return ""
}

// heartbeat waits for the next heartbeat.
func (f *following) heartbeat() bool {
	for f.read.Scan() {
		if strings.HasPrefix(f.read.Text(), ": ") {
			return true
		}
	}
	return false
}

func changed(kind readers.ChangeKind, of, namespace, name string) readers.Change {
	return readers.Change{Kind: kind, Object: catalog.Ref{Kind: of, Namespace: namespace, Name: name}}
}

func eventText(c readers.Change) string {
	return fmt.Sprintf(`%s {"kind":"%s","object":{"kind":"%s","namespace":"%s","name":"%s"}}`, c.Kind, c.Kind, c.Object.Kind, c.Object.Namespace, c.Object.Name)
}

// streaming returns an API with an API server. Its streams have the given heartbeat interval.
func streaming(t *testing.T, every time.Duration) (*Handler, *apiServer, *fake, *httptest.Server) {
	t.Helper()
	api, k := newAPIServer(t), newFake()
	h := New(Options{Mode: Authenticated})
	h.streams.every = every
	connect(t, h, api)
	return h, api, k, serve(t, h, k)
}

// TestEvents: a caller only gets events of objects that it may get.
func TestEvents(t *testing.T) {
	_, _, k, srv := streaming(t, time.Hour)
	f := follow(t, srv, "reader")
	tell := <-k.subscribed
	mine := changed(readers.WorkloadChanged, "Prometheus", "demo", "main")
	for _, c := range []readers.Change{
		changed(readers.WorkloadChanged, "Prometheus", "prod", "main"), changed(readers.ObjectChanged, "ServiceMonitor", "demo", "web"),
		changed(readers.ObjectChanged, "Secret", "demo", "web"), changed(readers.ObjectChanged, "Pod", "demo", "web-0"), mine,
	} {
		tell(c)
	}
	if got := f.next(); got != eventText(mine) {
		t.Errorf("got %s\nwant %s", got, eventText(mine))
	}
	rollout := changed(readers.RolloutChanged, "Prometheus", "demo", "main")
	tell(rollout)
	if got := f.next(); got != eventText(rollout) {
		t.Errorf("got %s\nwant %s", got, eventText(rollout))
	}
	if resp, _ := ask(t, srv, "HEAD", "/api/v1/events", "Authorization", "Bearer reader"); resp.StatusCode != 200 {
		t.Errorf("HEAD: %s", resp.Status)
	}
	if resp, _ := ask(t, srv, "GET", "/api/v1/events"); resp.StatusCode != 401 {
		t.Errorf("without a token: %s", resp.Status)
	}
	if resp, body := ask(t, srv, "GET", "/api/v1/events?since=1", "Authorization", "Bearer reader"); resp.StatusCode != 400 {
		t.Errorf("with a parameter: %s %s", resp.Status, body)
	}
}

// TestEventsEndWithTheToken: a stream ends when its token becomes invalid, and sends nothing while
// the API server does not respond.
func TestEventsEndWithTheToken(t *testing.T) {
	h, api, k, srv := streaming(t, 20*time.Millisecond)
	h.access.callers = uncached(t, api)
	f := follow(t, srv, "reader")
	tell := <-k.subscribed
	if !f.heartbeat() {
		t.Fatal("no heartbeat")
	}
	api.down.Store(true)
	for range 3 {
		if !f.heartbeat() {
			t.Fatal("the stream ended with the API server")
		}
	}
	mine := changed(readers.WorkloadChanged, "Prometheus", "demo", "main")
	tell(mine)
	api.down.Store(false)
	if got := f.next(); got != eventText(mine) {
		t.Errorf("got %q", got)
	}
	api.revoked.Store(true)
	if got := f.next(); got != "" {
		t.Errorf("after the token: %s", got)
	}
}

// TestEventsEnd: the listener is removed when the caller has disconnected.
func TestEventsEnd(t *testing.T) {
	h, _, k, srv := streaming(t, time.Hour)
	f := follow(t, srv, "reader")
	<-k.subscribed
	f.resp.Body.Close()
	for free := 0; free < mostStreams; { // its slot is free once the stream has ended
		if _, err := h.streams.open.Open(allPermissions{}); err == nil {
			free++
		} else {
			<-time.After(time.Millisecond)
		}
	}
}

// TestEventsAreLimited: streams have a separate limit and do not use the slots of requests.
func TestEventsAreLimited(t *testing.T) {
	h, _, k, srv := streaming(t, time.Hour)
	for range mostOfOne {
		follow(t, srv, "reader")
		<-k.subscribed
	}
	if resp, body := ask(t, srv, "GET", "/api/v1/events", "Authorization", "Bearer reader"); resp.StatusCode != 429 || !strings.Contains(body, "10 streams of one user") || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %s %s", resp.Status, body)
	}
	for range mostStreams - mostOfOne { // of other callers
		if _, err := h.streams.open.Open(allPermissions{}); err != nil {
			t.Fatal(err)
		}
	}
	if resp, body := ask(t, srv, "GET", "/api/v1/events", "Authorization", "Bearer reader"); resp.StatusCode != 429 || !strings.Contains(body, "50 streams") {
		t.Errorf("one more than all: %s %s", resp.Status, body)
	}
	if resp, body := ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader"); resp.StatusCode != 200 {
		t.Errorf("a request: %s %s", resp.Status, body)
	}
}

// TestEventsOutliveRequests: the request timeouts of a server do not end streams.
func TestEventsOutliveRequests(t *testing.T) {
	h := New(Options{Mode: Open})
	h.streams.every = 20 * time.Millisecond
	h.Answer(newFake())
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewUnstartedServer(mux)
	srv.Config.ReadTimeout = 100 * time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	f := follow(t, srv, "")
	for range 10 { // twice the timeout
		if !f.heartbeat() {
			t.Fatalf("ended: %v", f.read.Err())
		}
	}
}

// TestEventsCauseFewReviews: a stream causes a bounded number of access reviews between heartbeats, for
// any number of changes.
func TestEventsCauseFewReviews(t *testing.T) {
	_, api, k, srv := streaming(t, time.Hour)
	f := follow(t, srv, "reader")
	tell := <-k.subscribed
	mine := changed(readers.WorkloadChanged, "Prometheus", "demo", "main")
	tell(mine)
	f.next()
	for i := range 1000 {
		tell(changed(readers.ObjectChanged, "ServiceMonitor", fmt.Sprintf("n%d", i), "x"))
	}
	known := changed(readers.RolloutChanged, "Prometheus", "demo", "main")
	tell(known)
	if got := f.next(); got != eventText(known) {
		t.Errorf("got %s", got)
	}
	if n := api.rights.Load(); n > streamQuestions {
		t.Errorf("%d access reviews", n)
	}
}

// deadline is a response with a write deadline.
type deadline struct {
	*httptest.ResponseRecorder
	at time.Time
}

// SetWriteDeadline implements the interface of [http.ResponseController].
func (d *deadline) SetWriteDeadline(at time.Time) error { d.at = at; return nil }

// TestNoDeadlineBetweenEvents: HTTP/2 would end the stream.
func TestNoDeadlineBetweenEvents(t *testing.T) {
	w := &deadline{ResponseRecorder: httptest.NewRecorder()}
	s := &feed{w: w, to: http.NewResponseController(w)}
	if !s.write("data") || !w.Flushed || !w.at.IsZero() {
		t.Errorf("flushed: %t, deadline %s", w.Flushed, w.at)
	}
}

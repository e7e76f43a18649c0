package feed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// A pod gets the whole list of its shard, then its changes. A pod that reports its version gets only the changes since
// then.
func TestStream(t *testing.T) {
	s := serve(t)
	for _, encoding := range []string{"gzip", "identity"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+s.shard[1])
		if encoding != "gzip" { // the default of the transport
			request.Header.Set("Accept-Encoding", encoding)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/x-ndjson" || response.Uncompressed != (encoding == "gzip") {
			t.Fatalf("%s: %d %v, uncompressed %t", encoding, response.StatusCode, response.Header, response.Uncompressed)
		}
		c, lines := follower{}, bufio.NewReader(response.Body)
		c.follow(t, lines, 1)
		if len(c.jobs) != 1 || !strings.Contains(c.jobs["one"], "10.0.0.1:80") {
			t.Errorf("%s: %v", encoding, c.jobs)
		}
		of := shard0
		of.Number = 1
		s.Feed.Apply(time.Now(), of, []Change{jobOf("new", 1)})
		s.Feed.Apply(time.Now(), shard0, []Change{jobOf("of another shard", 1)})
		c.follow(t, lines, 1)
		if len(c.jobs) != 2 {
			t.Errorf("%s: %v", encoding, c.jobs)
		}
		again := follower{version: c.version, jobs: c.jobs}
		s.Feed.Apply(time.Now(), of, []Change{{Job: "new"}})
		again.follow(t, bufio.NewReader(s.get(t, s.shard[1], again.version).Body), 1)
		if len(again.jobs) != 1 || again.version == c.version {
			t.Errorf("%s: %v", encoding, again.jobs)
		}
	}
	shards, leads := s.Status()
	if one := shards[shard0]; !leads || one.Targets != 4 || one.Jobs != 2 || len(one.Streams) != 0 {
		t.Errorf("%t, %+v", leads, one)
	}
	if n := testutil.CollectAndCount(s.Server); n < 10 {
		t.Errorf("%d metrics", n)
	}
}

// A new leader sends full lists. While there is none, pods are rejected, and their lists remain.
func TestLeaders(t *testing.T) {
	s := serve(t)
	lines := bufio.NewReader(s.get(t, s.shard[0], "").Body)
	var c follower
	c.follow(t, lines, 1)
	s.Feed.Lead(9)
	c.follow(t, lines, 1)
	if !strings.HasPrefix(c.version, "9-") || len(c.jobs) != 1 {
		t.Errorf("%s, %v", c.version, c.jobs)
	}
	s.Feed.Lead(0)
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the stream goes on without leader")
	}
	response := s.get(t, s.shard[0], "")
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	s.Feed.Lead(10)
	s.Feed.Drop(shard0)
	if code, text := s.refused(t, s.shard[0]); code != http.StatusServiceUnavailable || !strings.Contains(text, "not complete") {
		t.Errorf("%d %s: a list that is not complete is served", code, text)
	}
	s.Feed.SetOwners(nil)
	if code, _ := s.refused(t, s.shard[0]); code != http.StatusServiceUnavailable {
		t.Errorf("%d: workloads are not known", code)
	}
}

// Only pods of the workload's own StatefulSets get its list.
func TestRefused(t *testing.T) {
	s := serve(t)
	c := s.cluster
	forged := c.run("tenant", "prometheus-k8s", "prometheus") // the same names and labels in another namespace
	own := c.run("monitoring", "prometheus-own", "prometheus")
	foreign := c.run("monitoring", "prometheus-k8s-extra", "prometheus")
	account := c.run("monitoring", "prometheus-k8s-shard-2", "tenant")
	gone := c.run("monitoring", "prometheus-k8s-shard-3", "prometheus")
	delete(c.pods, types.NamespacedName{Namespace: "monitoring", Name: "prometheus-k8s-shard-3-0"})
	ended := c.run("monitoring", "prometheus-k8s-shard-4", "prometheus")
	c.pods[types.NamespacedName{Namespace: "monitoring", Name: "prometheus-k8s-shard-4-0"}].Status.Phase = corev1.PodFailed
	bare := c.run("monitoring", "prometheus-k8s-shard-5", "prometheus")
	c.pods[types.NamespacedName{Namespace: "monitoring", Name: "prometheus-k8s-shard-5-0"}].OwnerReferences = nil
	other := c.run("monitoring", "prometheus-k8s-shard-6", "prometheus")
	c.pods[types.NamespacedName{Namespace: "monitoring", Name: "prometheus-k8s-shard-6-0"}].OwnerReferences[0].APIVersion = "example.com/v1"
	set := func(text string, change func(*token)) string {
		of := c.tokens[s.shard[0]]
		change(&of)
		c.tokens[text] = of
		return text
	}
	for name, tc := range map[string]struct {
		token string
		code  int
		text  string
	}{
		"none":                                {"", 401, "Bearer"},
		"unknown":                             {"nonsense", 401, "audience"},
		"long":                                {strings.Repeat("x", 20<<10), 401, "Bearer"},
		"audience of the API server":          {set("api", func(of *token) { of.audience = "https://kubernetes.default.svc" }), 401, "audience"},
		"bound to no pod":                     {set("free", func(of *token) { of.pod = "" }), 401, "bound"},
		"no ServiceAccount":                   {set("user", func(of *token) { of.username = "admin" }), 401, "bound"},
		"a pod that was replaced":             {set("old", func(of *token) { of.uid = "before" }), 403, "replaced"},
		"a pod that is gone":                  {gone, 403, "does not exist"},
		"a pod that has ended":                {ended, 403, "ended"},
		"the same names in another namespace": {forged, 403, "none of a Prometheus"},
		"a StatefulSet with a similar name":   {foreign, 403, "none of a Prometheus"},
		"another ServiceAccount":              {account, 403, "runs as ServiceAccount tenant"},
		"a pod with labels only":              {bare, 403, "does not belong to a StatefulSet"},
		"a StatefulSet of another group":      {other, 403, "does not belong to a StatefulSet"},
		"a workload with own discovery":       {own, 403, "firekeeper.dev/target-discovery is own"},
	} {
		s.forget()
		if code, text := s.refused(t, tc.token); code != tc.code || !strings.Contains(text, tc.text) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	for _, have := range []string{"x", "1-2-3"} {
		if response := s.get(t, s.shard[0], have); response.StatusCode != http.StatusBadRequest {
			t.Errorf("have=%s: %d", have, response.StatusCode)
		}
	}
	for _, broken := range []error{errors.New("x509: unknown"), apierrors.NewInternalError(errors.New("down")), context.DeadlineExceeded} {
		c.broken = broken
		want := http.StatusServiceUnavailable
		if !client.Unanswered(broken) {
			want = http.StatusUnauthorized
		}
		s.forget()
		if code, text := s.refused(t, s.shard[0]); code != want || strings.Contains(text, "token of") {
			t.Errorf("%v: %d %s", broken, code, text)
		}
	}
}

// A shard that is kept after scaling down gets all jobs, without targets, so that it scrapes nothing
// that another shard scrapes.
func TestRetiredShard(t *testing.T) {
	s := serve(t)
	var c follower
	c.follow(t, bufio.NewReader(s.get(t, s.cluster.run("monitoring", "prometheus-k8s-shard-2", "prometheus"), "").Body), 1)
	if len(c.jobs) != 1 || c.jobs["zero"] != "[]" {
		t.Errorf("%v", c.jobs)
	}
}

// A pod that opens a thousand connections has two streams, is slowed down, and excludes no other pod.
func TestManyConnections(t *testing.T) {
	s := serve(t)
	codes := map[int]int{}
	for range 1000 {
		response := s.get(t, s.shard[0], "")
		codes[response.StatusCode]++
		if n := len(s.streams.all()); n > maxOfPod {
			t.Fatalf("%d streams", n)
		}
	}
	if codes[http.StatusOK] == 0 || codes[http.StatusTooManyRequests] < 900 {
		t.Errorf("responses by status: %v", codes)
	}
	var c follower
	c.follow(t, bufio.NewReader(s.get(t, s.shard[1], "").Body), 1)
	if len(c.jobs) != 1 {
		t.Errorf("another pod got %v", c.jobs)
	}
	if n := s.streams.open; n != len(s.streams.all()) {
		t.Errorf("%d streams are counted, %d are open", n, len(s.streams.all()))
	}
}

// A namespace with all streams yields to pods of other namespaces until each has its share, but not to its own pods.
func TestManyPods(t *testing.T) {
	var s streams
	now := time.Unix(0, 0)
	n := 0
	enter := func(namespace string) (*stream, error) {
		n++
		st := &stream{ended: make(chan struct{}), since: now.Add(time.Duration(n)),
			caller: caller{pod: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(n)}, uid: types.UID(fmt.Sprint(n))}}
		return st, s.enter(now, st)
	}
	var last *stream
	for range maxStreams {
		st, err := enter("bad")
		if err != nil {
			t.Fatal(err)
		}
		last = st
	}
	if _, err := enter("bad"); err == nil {
		t.Error("there are too many streams")
	}
	for range maxStreams / 2 {
		if _, err := enter("good"); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-last.ended:
		s.leave(last)
	default:
		t.Error("the latest stream of the largest namespace goes on")
	}
	if _, err := enter("good"); err == nil {
		t.Error("a namespace takes more than its share")
	}
	of := map[string]int{}
	for _, st := range s.all() {
		of[st.caller.pod.Namespace]++
	}
	if s.open != maxStreams || of["bad"] != maxStreams/2 || of["good"] != maxStreams/2 {
		t.Errorf("%d streams are counted, %v", s.open, of)
	}
}

// A stream of a pod that does not read holds no more than one step, and the next step has everything
// that changed meanwhile.
func TestReaderThatNeverReads(t *testing.T) {
	s := serve(t)
	stuck := &blocked{header: http.Header{}, entered: make(chan struct{}), release: make(chan error)}
	st := &stream{server: s.Server, caller: caller{shard: shard0}, since: time.Now(), ended: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		st.run(t.Context(), stuck)
	}()
	<-stuck.entered
	if !stuck.endless {
		t.Error("the read timeout of the server ends streams")
	}
	if stuck.deadline.IsZero() || time.Until(stuck.deadline) > stepTimeout {
		t.Errorf("write deadline %s", stuck.deadline)
	}
	for i := range 1000 { // changes while the client is blocked: nothing is queued
		s.Feed.Apply(time.Now(), shard0, []Change{jobOf("churn", i%7)})
	}
	at, err := s.Feed.next(caller{shard: shard0}, st.version())
	if err != nil || len(at.step.blocks) != 2 {
		t.Errorf("%d jobs to send, %v", len(at.step.blocks), err)
	}
	stuck.release <- errors.New("timeout")
	<-done
	if s.metrics.tooSlow != 1 {
		t.Errorf("%d slow streams", s.metrics.tooSlow)
	}
}

// blocked is a response whose first write blocks.
type blocked struct {
	header   http.Header
	deadline time.Time
	endless  bool // without a deadline for reading
	entered  chan struct{}
	release  chan error
}

func (b *blocked) Header() http.Header { return b.header }

func (b *blocked) WriteHeader(int) {}

func (b *blocked) Flush() {}

func (b *blocked) SetReadDeadline(by time.Time) error { b.endless = by.IsZero(); return nil }

func (b *blocked) SetWriteDeadline(by time.Time) error { b.deadline = by; return nil }

func (b *blocked) Write([]byte) (int, error) {
	close(b.entered)
	return 0, <-b.release
}

// Pods with random tokens do not exclude a pod with a valid one, and few of their tokens are reviewed.
func TestRandomTokensFromManyPods(t *testing.T) {
	s := serve(t)
	for i := range 200 {
		from := httptest.NewRequest(http.MethodGet, Path, nil)
		from.RemoteAddr = fmt.Sprintf("10.0.0.%d:%d", i%4, 1000+i)
		from.Header.Set("Authorization", fmt.Sprint("Bearer random ", i))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, from)
		if w.Code != http.StatusUnauthorized && w.Code != http.StatusTooManyRequests {
			t.Fatal(w.Code)
		}
	}
	if n := s.cluster.reviewed.Load(); n < 4 || n > 4*maxFailures {
		t.Errorf("%d reviews", n)
	}
	var c follower
	c.follow(t, bufio.NewReader(s.get(t, s.shard[0], "").Body), 1)
	if len(c.jobs) != 1 {
		t.Errorf("%v", c.jobs)
	}
}

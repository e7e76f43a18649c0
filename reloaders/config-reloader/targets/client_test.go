package targets

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a discovery server without a network, for tests with a fake clock.
type peer struct {
	t      *testing.T
	client *Client
	log    *logtest.Log

	mu     sync.Mutex
	asked  []string // "have" of each request
	opened []time.Time
	// answer returns the next response; nil serves what is written to the stream.
	answer func() (*http.Response, error)
	stream *io.PipeWriter
}

func newPeer(t *testing.T, file string) *peer {
	p := &peer{t: t, log: &logtest.Log{}}
	p.client = New(Options{
		Server: &url.URL{Scheme: "https", Host: "discovery"}, File: file, Limits: bounds,
		Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(p.log, nil)),
	})
	p.client.open = p.open
	return p
}

func (p *peer) open(ctx context.Context, u *url.URL) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.opened = append(p.asked, u.Query().Get("have")), append(p.opened, time.Now())
	if p.answer != nil {
		return p.answer()
	}
	in, out := io.Pipe()
	p.stream = out
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return &http.Response{StatusCode: 200, Body: in, Header: http.Header{}}, nil
}

// requests returns "have" and the time of each request.
func (p *peer) requests() (asked []string, opened []time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked), slices.Clone(p.opened)
}

// respond sets the next responses.
func (p *peer) respond(answer func() (*http.Response, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// hangUp closes the stream.
func (p *peer) hangUp() { p.out().CloseWithError(io.ErrUnexpectedEOF) }

func (p *peer) out() *io.PipeWriter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stream
}

// run runs the client in the fake time of the test.
func (p *peer) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	go func() { p.client.Run(ctx); close(done) }()
	synctest.Wait()
	return func() { cancel(); <-done }
}

func (p *peer) send(lines string) {
	p.t.Helper()
	_, err := io.WriteString(p.out(), lines)
	must(p.t, err)
	synctest.Wait()
}

func (p *peer) wantList(want string) {
	p.t.Helper()
	if got := text(p.t, &p.client.list, "a", "b", "c"); got != want {
		p.t.Errorf("list %s\nwant %s", got, want)
	}
}

func (p *peer) errors(r Reason) int {
	return int(testutil.ToFloat64(p.client.metrics.errors.WithLabelValues(string(r))))
}

func status(code int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// A connection is kept while the server sends pings.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		defer p.run()()
		p.send(start)
		for range 20 {
			time.Sleep(29 * time.Second)
			p.send(`{"ping":{"version":"3-7"}}` + "\n")
		}
		if asked, _ := p.requests(); len(asked) != 1 || p.errors(Silent) != 0 {
			t.Fatalf("%d connections while pings arrive", len(asked))
		}
		p.send(`{"ping":{"ver`) // not a line
		time.Sleep(31 * time.Second)
		synctest.Wait()
		asked, _ := p.requests()
		if len(asked) != 2 || p.errors(Silent) != 1 {
			t.Fatalf("%d connections, %d times silent", len(asked), p.errors(Silent))
		}
		if asked[1] != "3-7" {
			t.Errorf("asked for changes of %q", asked[1])
		}
		p.wantList(listAtStart)
	})
}

// A list that arrives slowly is used only once it is complete.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		defer p.run()()
		for line := range strings.Lines(start) {
			p.wantList("none")
			p.send(line)
			time.Sleep(20 * time.Second)
		}
		p.wantList(listAtStart)
	})
}

// Pauses between attempts grow to 15 s, and are reset after the server has confirmed a list.
func TestServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		away := errors.New("connection refused")
		p.respond(func() (*http.Response, error) { return nil, away })
		defer p.run()()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		_, opened := p.requests()
		for i := 1; i < len(opened); i++ {
			if d := opened[i].Sub(opened[i-1]); d < firstPause || d > longestPause || i > 6 && d < longestPause*3/4 {
				t.Errorf("pause %d: %v", i, d)
			}
		}
		if n := strings.Count(p.log.String(), "connection refused"); n < 2 || n > 3 {
			t.Errorf("%d log lines in 10 minutes, want one per 5 minutes", n)
		}
		p.respond(nil)
		time.Sleep(longestPause)
		synctest.Wait()
		p.send(start)
		_, before := p.requests()
		p.hangUp()
		time.Sleep(firstPause)
		synctest.Wait()
		if _, opened := p.requests(); len(opened) != len(before)+1 {
			t.Errorf("%d connections within %s of a lost one, want 1", len(opened)-len(before), firstPause)
		}
	})
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		response *http.Response
		reason   Reason
		log      string
		pause    time.Duration // of the first attempt, 0 for firstPause
	}{
		"401":         {status(401, "token expired\n"), Unauthorized, "401 Unauthorized: token expired", 0},
		"403":         {status(403, "pod demo/x\n belongs to\tno workload"), Forbidden, "403 Forbidden: pod demo/x belongs to no workload", 0},
		"503":         {status(503, "", "Retry-After", "3"), Unavailable, "503 Service Unavailable", 3 * time.Second},
		"503 late":    {status(503, "", "Retry-After", "86400"), Unavailable, "503", longestPause},
		"503 wrong":   {status(503, "", "Retry-After", "-1"), Unavailable, "503", 0},
		"redirect":    {status(302, "", "Location", "https://elsewhere"), Status, "302 Found", 0},
		"long":        {status(500, strings.Repeat("x", 1<<20)), Status, strings.Repeat("x", maxReply), 0},
		"compressed":  {status(500, "\x1f\x8b\xff", "Content-Encoding", "gzip"), Status, "500 Internal Server Error", 0},
		"not gzip":    {status(200, start, "Content-Encoding", "gzip"), Unreachable, "gzip: invalid header", 0},
		"empty":       {status(200, ""), Unreachable, "EOF", 0},
		"another one": {status(200, "hello"), Protocol, "invalid character", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, filepath.Join(t.TempDir(), "list"))
				p.respond(func() (*http.Response, error) { p.answer = nil; return c.response, nil })
				defer p.run()()
				if p.errors(c.reason) != 1 || !strings.Contains(p.log.String(), c.log) || len(p.log.String()) > 1000 {
					t.Errorf("%d errors with reason %s, log: %s", p.errors(c.reason), c.reason, p.log)
				}
				want := max(c.pause, firstPause)
				time.Sleep(want)
				synctest.Wait()
				_, opened := p.requests()
				if len(opened) != 2 {
					t.Fatalf("%d connections after %v", len(opened), want)
				}
				if d := opened[1].Sub(opened[0]); d < max(firstPause, want*3/4) {
					t.Errorf("asked again after %v, want %v", d, want)
				}
				p.send(start)
				p.wantList(listAtStart)
			})
		})
	}
}

// A change of a list that the client does not have is followed by one request for a full list.
func TestMismatchRequestsFullList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		defer p.run()()
		p.send(start)
		p.send(`{"begin":{"version":"3-9","from":"3-8"}}` + "\n")
		time.Sleep(firstPause)
		synctest.Wait()
		p.send(strings.ReplaceAll(start, "3-7", "3-9"))
		p.hangUp()
		time.Sleep(firstPause)
		synctest.Wait()
		if asked, _ := p.requests(); strings.Join(asked, ",") != ",,3-9" {
			t.Errorf("asked for changes of %q", asked)
		}
	})
}

// An older leader is rejected until the newer one has not confirmed the list for [patience].
func TestOlderLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, filepath.Join(t.TempDir(), "list"))
		defer p.run()()
		p.send(start)
		older := `{"begin":{"version":"1-1","full":true}}{"job":"c","groups":[]}{"end":{"version":"1-1"}}` + "\n"
		p.respond(func() (*http.Response, error) { return status(200, older), nil })
		p.hangUp()
		time.Sleep(patience - time.Second)
		synctest.Wait()
		p.wantList(listAtStart)
		if p.errors(OldLeader) < 10 {
			t.Errorf("refused %d times", p.errors(OldLeader))
		}
		time.Sleep(longestPause + time.Second)
		synctest.Wait()
		p.wantList("1-1: c=[]")
	})
}

func TestServeHTTP(t *testing.T) {
	p := newPeer(t, "")
	get := func(method, path, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		p.client.ServeHTTP(w, r)
		return w
	}
	const job = "serviceMonitor/demo/web/0"
	path := prefix + url.PathEscape(job)
	if w := get("GET", path, ""); w.Code != 503 {
		t.Errorf("without a list: %d", w.Code)
	}
	must(t, feed(&p.client.list, strings.ReplaceAll(start, `"job":"a"`, `"job":"`+job+`"`), bounds))
	const groups = `[{"targets":["1:80"],"labels":{"x":"é\u00e9"}},{"targets":[]}]`
	if w := get("GET", path, ""); w.Code != 200 || w.Body.String() != groups || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := get("GET", path, "gzip"); w.Code != 200 || unpack(t, w.Body.Bytes()) != groups || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("compressed: %d %v", w.Code, w.Header())
	}
	if w := get("GET", prefix+"b", ""); w.Code != 200 || w.Body.String() != "[]" {
		t.Errorf("job without targets: %d %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{prefix + "c": 503, prefix: 503, "/": 404, "/metrics": 404, "/sd": 404} {
		if w := get("GET", path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	if w := get("POST", path, ""); w.Code != 405 {
		t.Errorf("POST: %d", w.Code)
	}
}

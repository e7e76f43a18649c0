package reloadtest

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Process is a reloader that runs in the test process.
type Process struct {
	Log  *logtest.Log
	t    testing.TB
	stop context.CancelFunc
	code chan int
	addr string
}

// Start calls run, which must serve at listen and return an exit code after ctx ended.
// The test fails unless that code is 0.
func Start(t testing.TB, run func(ctx context.Context, listen string, log io.Writer) int) *Process {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &Process{t: t, Log: &logtest.Log{}, stop: stop, code: make(chan int, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	p.addr = l.Addr().String()
	p.must(l.Close())
	go func() { p.code <- run(ctx, p.addr, p.Log) }()
	t.Cleanup(func() {
		if code := p.End(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if t.Failed() {
			t.Logf("log:\n%s", p.Log)
		}
	})
	return p
}

// End cancels the context and returns the exit code.
func (p *Process) End() int {
	p.stop()
	code := <-p.code
	p.code <- code
	return code
}

// Get requests a path from the reloader, and waits until it is serving.
func (p *Process) Get(path string) (code int, body string) {
	p.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	p.Until("the process to serve", func() bool {
		res, err := c.Get("http://" + p.addr + path)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		p.must(err)
		code, body = res.StatusCode, string(b)
		return true
	})
	return code, body
}

// Metric returns the value of a series at /metrics, or "" if it is absent.
func (p *Process) Metric(series string) string {
	p.t.Helper()
	_, body := p.Get("/metrics")
	if m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(body); m != nil {
		return m[1]
	}
	return ""
}

// Report returns the response of /api/v1/applied.
func (p *Process) Report() (r reload.Report) {
	p.t.Helper()
	code, body := p.Get("/api/v1/applied")
	if code != http.StatusOK {
		p.t.Fatalf("/api/v1/applied answers %d", code)
	}
	p.must(json.Unmarshal([]byte(body), &r))
	return r
}

// Until polls until cond holds.
func (p *Process) Until(what string, cond func() bool) {
	p.t.Helper()
	Until(p.t, what, cond)
}

// Until returns when cond holds. It fails the test on a timeout.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *Process) must(err error) {
	if err != nil {
		p.t.Helper()
		p.t.Fatal(err)
	}
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("CONFIG_RELOADER_MAIN") != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

const patience = 15 * time.Second

// output is a log that is written and read at the same time.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// process is a running reloader.
type process struct {
	t    testing.TB
	log  *output
	stop context.CancelFunc
	code chan int
	addr string
}

// start runs the program with a metrics server on a free port until the test ends.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &process{t: t, log: &output{}, stop: stop, code: make(chan int, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p.addr = l.Addr().String()
	must(t, l.Close())
	args = append([]string{"--listen-address=" + p.addr}, args...)
	go func() { p.code <- run(ctx, args, []string{"A=1", "POD_NAME=prometheus-k8s-3"}, p.log, p.log) }()
	t.Cleanup(func() {
		if code := p.end(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if t.Failed() {
			t.Logf("log:\n%s", p.log)
		}
	})
	return p
}

func (p *process) end() int {
	p.stop()
	code := <-p.code
	p.code <- code
	return code
}

// get asks the program's own server; it is up shortly after the start.
func (p *process) get(path string) (int, string) {
	p.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	deadline := time.Now().Add(patience)
	for {
		res, err := c.Get("http://" + p.addr + path)
		if err == nil {
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			must(p.t, err)
			return res.StatusCode, string(body)
		}
		if time.Now().After(deadline) {
			p.t.Fatal(err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func (p *process) metric(name string) string {
	p.t.Helper()
	_, body := p.get("/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		p.t.Fatalf("no series %s", name)
	}
	return m[1]
}

func (p *process) applied() (r reload.Report) {
	p.t.Helper()
	code, body := p.get("/api/v1/applied")
	if code != 200 {
		p.t.Fatalf("applied answers %d", code)
	}
	must(p.t, json.Unmarshal([]byte(body), &r))
	return r
}

// until polls a state of the program that has no other announcement.
func (p *process) until(what string, cond func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for !cond() {
		select {
		case <-deadline:
			p.t.Fatalf("waited in vain for %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gz(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	must(t, err)
	must(t, w.Close())
	return b.String()
}

// site is a config volume, an output folder and a server that loads the output.
type site struct {
	vol    *volumetest.Volume
	out    string
	server *reloadtest.Server
	mu     sync.Mutex
	live   string // what the server runs
}

const key = "prometheus.yaml.gz"

// newSite makes the server refuse a configuration that contains "bad".
func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{vol: volumetest.New(t), out: filepath.Join(t.TempDir(), "prometheus.env.yaml")}
	s.server = reloadtest.New(t, s.load)
	return s
}

func (s *site) load() error {
	b, err := os.ReadFile(s.out)
	if err != nil {
		return err
	}
	if strings.Contains(string(b), "bad") {
		return errors.New("line 1: bad")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = string(b)
	return nil
}

func (s *site) running() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *site) put(t testing.TB, text string) { s.vol.Swap(map[string]string{key: gz(t, text)}) }

func (s *site) args(more ...string) []string {
	return append([]string{
		"--config-file=" + s.vol.Path(key), "--config-envsubst-file=" + s.out, "--watched-dir=" + s.vol.Dir,
		"--reload-url=" + s.server.ReloadURL(),
	}, more...)
}

func (s *site) waitLive(t testing.TB, text string) reloadtest.Stats {
	t.Helper()
	return s.server.Wait(t, fmt.Sprintf("%.40q to run", text), func(reloadtest.Stats) bool { return s.running() == text })
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

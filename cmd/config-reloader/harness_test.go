package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

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

// start runs the program with a metrics server on a free port until the test ends.
func start(t testing.TB, args ...string) *reloadtest.Process {
	t.Helper()
	return reloadtest.Start(t, func(ctx context.Context, listen string, log io.Writer) int {
		args := append([]string{"--listen-address=" + listen}, args...)
		return run(ctx, args, []string{"A=1", "POD_NAME=prometheus-k8s-3"}, log, log)
	})
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

// site is a configuration volume, an output folder, and a server that loads the output.
type site struct {
	vol    *volumetest.Volume
	out    string
	server *reloadtest.Server
	mu     sync.Mutex
	live   string // content loaded by the server
}

const key = "prometheus.yaml.gz"

// newSite returns a site whose server rejects a configuration that contains "bad".
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

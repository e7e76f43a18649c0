package truth

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// program is a Prometheus binary.
type program struct{ path, version string }

// releases returns the releases that are available on this machine, oldest first. With FIREKEEPER_PROMETHEUSES=1 it
// builds missing ones.
func releases(t *testing.T) (out []program) {
	t.Helper()
	build := os.Getenv("FIREKEEPER_PROMETHEUSES") == "1"
	finder := programs.Default(os.Stderr)
	for _, name := range []string{"prometheus-2.47", "prometheus-2.53", "prometheus-2.55", "prometheus-3.5", "prometheus"} {
		path, err := finder.One(t.Context(), name, build)
		switch {
		case err != nil && build:
			t.Errorf("%s: %v", name, err)
		case err != nil || path == "":
			t.Logf("%s is not here; FIREKEEPER_PROMETHEUSES=1 gets it", name)
		default:
			version, err := programs.Release(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, program{path, version.String()})
		}
	}
	if len(out) == 0 {
		t.Skip("no prometheus is here; FIREKEEPER_PROMETHEUSES=1 gets them")
	}
	return out
}

// seen is the set of targets of one job.
type seen struct {
	Active  []string // URL and labels, sorted
	Dropped int
}

// server is a running Prometheus.
type server struct {
	url   string
	log   string
	ended chan struct{}
}

// run starts a Prometheus server with a configuration and features. It is stopped at the end of the test.
func (p program) run(t *testing.T, configuration string, features ...string) server {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	lease, err := ports.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	s := server{url: fmt.Sprintf("http://127.0.0.1:%d", lease.Ports[0]), log: filepath.Join(dir, "log"), ended: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p.path, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+strings.TrimPrefix(s.url, "http://"), "--scrape.discovery-reload-interval=1s", "--enable-feature="+strings.Join(features, ","))
	cmd.Stdout, cmd.Stderr = log, log
	child.DiesWithUs(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // the reason is in its log
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have exited already
		<-s.ended
		_ = log.Close()
		lease.Release()
	})
	return s
}

// answer is a response of the API.
type answer struct {
	Data struct {
		Active []struct {
			Pool   string            `json:"scrapePool"`
			URL    string            `json:"scrapeUrl"`
			Labels map[string]string `json:"labels"`
		} `json:"activeTargets"`
		Dropped []struct {
			Discovered map[string]string `json:"discoveredLabels"`
		} `json:"droppedTargets"`
	} `json:"data"`
}

// targets requests the targets, by job.
func (s server) targets(ctx context.Context) (map[string]seen, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/targets?state=any", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("targets: %s", response.Status)
	}
	var a answer
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return nil, err
	}
	out := map[string]seen{}
	for _, target := range a.Data.Active {
		job := out[target.Pool]
		job.Active = append(job.Active, line(target.URL, target.Labels))
		out[target.Pool] = job
	}
	for _, target := range a.Data.Dropped {
		job := out[target.Discovered["job"]] // the target pool is named after the discovered label
		job.Dropped++
		out[target.Discovered["job"]] = job
	}
	for _, job := range out {
		slices.Sort(job.Active)
	}
	return out, nil
}

// line formats a target as a single line.
func line(url string, labels map[string]string) string {
	text := url
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		text += fmt.Sprintf(" %s=%q", name, labels[name])
	}
	return text
}

// Times for which targets must be unchanged: correct ones for a round of Prometheus' discovery, wrong ones longer,
// because a server on a busy machine may need more time.
const (
	rightFor = 6 * time.Second
	wrongFor = 45 * time.Second
	limit    = 10 * time.Minute // until the first response of a server
)

// settle polls all servers until their targets are the wanted ones or stop changing, and returns the last responses.
func settle(t *testing.T, servers []server, want []map[string]seen) []map[string]seen {
	t.Helper()
	began := time.Now()
	changed := began // time of the last error or different response
	out := make([]map[string]seen, len(servers))
	for {
		right := true
		for i, s := range servers {
			select {
			case <-s.ended:
				text, _ := os.ReadFile(s.log)
				t.Fatalf("Prometheus ended\n%s", text)
			default:
			}
			got, err := s.targets(t.Context())
			if err != nil && time.Since(began) > limit {
				text, _ := os.ReadFile(s.log)
				t.Fatalf("%v\n%s", err, text)
			}
			if err != nil || !equal(got, out[i]) {
				changed = time.Now()
			}
			out[i] = got
			right = right && err == nil && equal(got, want[i])
		}
		if still := time.Since(changed); still > wrongFor || right && still > rightFor && time.Since(began) > 2*rightFor {
			return out
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func equal(a, b map[string]seen) bool {
	return maps.EqualFunc(a, b, func(a, b seen) bool { return a.Dropped == b.Dropped && slices.Equal(a.Active, b.Active) })
}

package configreloader

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/variables"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/render"
)

func TestOrdinal(t *testing.T) {
	for value, want := range map[string]string{
		"prometheus-0": "0", "prometheus-10": "10", "prometheus1": "1", "prometheus-10a": "", "pro-10-metheus": "", "": "", "007": "007",
	} {
		env := WithOrdinal([]string{"X=1", variables.Ordinal + "=old", "POD_NAME=" + value, "POD_NAME=other-9"}, "POD_NAME")
		if !slices.Contains(env, variables.Ordinal+"="+want) || slices.Contains(env, variables.Ordinal+"=old") || !slices.Contains(env, "X=1") {
			t.Errorf("%q gives %v, want %q", value, env, want)
		}
	}
	for _, source := range []string{"NOT_THERE", ""} {
		if env := WithOrdinal([]string{"=5"}, source); !slices.Contains(env, variables.Ordinal+"=") {
			t.Errorf("source %q gives %v, want the variable set and empty", source, env)
		}
	}
}

// counting is a trigger that always succeeds and counts its calls.
type counting int

func (c *counting) Reload(context.Context, reload.Request) error { *c++; return nil }

func newReloader(t testing.TB, o Options) *Reloader {
	t.Helper()
	o.Syntax, o.Trigger, o.Method = expand.Kubernetes, new(counting), "http"
	o.Registerer, o.Logger = prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	return New(o)
}

func TestOnceUsesNoWatchesAndNoServer(t *testing.T) {
	vol, out := volumetest.New(t), filepath.Join(t.TempDir(), "out")
	vol.Swap(map[string]string{"in": "$(A)"})
	r := newReloader(t, Options{
		Files: []render.File{{Input: vol.Path("in"), Output: out}}, WatchedDirs: []string{vol.Dir}, Env: []string{"A=1"},
	})
	if err := r.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "1" {
		t.Errorf("output %q, %v", b, err)
	}
	if r.watcher.Load() != nil || *r.opts.Trigger.(*counting) != 0 {
		t.Error("file watches or a reload in once mode")
	}
}

func TestOnceWaitsForTheEndOfASwap(t *testing.T) {
	vol := volumetest.New(t)
	vol.Swap(map[string]string{"old": ""})
	steps := vol.Steps(map[string]string{"new": ""})
	steps[0]()
	steps[1]()
	r := newReloader(t, Options{WatchedDirs: []string{vol.Dir}})
	if _, err := r.step(t.Context()); !reload.Temporary(err) {
		t.Fatalf("in the middle of a swap: %v", err)
	}
	done := make(chan error)
	go func() { done <- r.Once(context.Background()) }()
	for _, step := range steps[2:] {
		step()
	}
	if err := <-done; err != nil {
		t.Errorf("Once = %v", err)
	}
}

// The version depends on the content that the server reads and not on the form of the inputs.
func TestVersionIsAboutWhatTheServerReads(t *testing.T) {
	vol, out := volumetest.New(t), filepath.Join(t.TempDir(), "out")
	r := newReloader(t, Options{
		Files: []render.File{{Input: vol.Path("in"), Output: out}}, WatchedDirs: []string{vol.Dir}, Env: []string{"A=1"},
	})
	version := func(files map[string]string) string {
		t.Helper()
		vol.Swap(files)
		c, err := r.step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c.Version
	}
	first := version(map[string]string{"in": "$(A)", "other": "x"})
	if version(map[string]string{"in": "1", "other": "x"}) != first {
		t.Error("another form of the input changed the version")
	}
	if version(map[string]string{"in": "1", "other": "y"}) == first || version(map[string]string{"in": "2", "other": "x"}) == first {
		t.Error("other content kept the version")
	}
	if version(map[string]string{"in": "$(A)", "other": "x"}) != first {
		t.Error("the first content has another version")
	}
}

// BenchmarkStep has a configuration with the size of up to 1,000 jobs and as many rule files, unchanged
// as in most steps.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run("files="+strconv.Itoa(n), func(b *testing.B) {
			config, rules := volumetest.New(b), volumetest.New(b)
			config.Swap(map[string]string{"in": strings.Repeat("- job_name: $(A)\n  replacement: ${1}\n", 20*n)})
			files := map[string]string{}
			for i := range n {
				files["rule-"+strconv.Itoa(i)+".yaml"] = strings.Repeat("- alert: A\n  expr: up == 0\n", 80)
			}
			rules.Swap(files)
			r := newReloader(b, Options{
				Files:       []render.File{{Input: config.Path("in"), Output: filepath.Join(b.TempDir(), "out")}},
				WatchedDirs: []string{rules.Dir, config.Dir}, Env: []string{"A=1"},
			})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.step(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

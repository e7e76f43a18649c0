package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
)

// config returns a configuration like that of the operator: about 2 kB per job.
func config(jobs int) string {
	var b strings.Builder
	for i := range jobs {
		fmt.Fprintf(&b, "- job_name: serviceMonitor/ns/sm-%05d/0\n  relabel_configs:\n", i)
		for range 20 {
			b.WriteString("  - {source_labels: [job], regex: (.+)$, replacement: ${1}:$(A), target_label: __tmp_prometheus_job_name}\n")
		}
	}
	return b.String()
}

func BenchmarkRender(b *testing.B) {
	for _, jobs := range []int{10, 100, 1000} {
		contents := [2]string{gz(b, config(jobs), "# 1"), gz(b, config(jobs), "# 2")}
		b.Run("changed/jobs="+strconv.Itoa(jobs), func(b *testing.B) {
			r, in, _ := single(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				write(b, in, contents[i%2])
				if _, err := r.Render(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("unchanged/jobs="+strconv.Itoa(jobs), func(b *testing.B) {
			r, in, _ := single(b)
			write(b, in, contents[0])
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Render(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A pipe as input is an error: opening it would wait for a writer.
func TestInputIsAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "prometheus.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"", filepath.Join(dir, "out.yaml")} {
		_, err := New(Options{Files: []File{{pipe, output}}, Expander: expand.New(expand.Kubernetes, nil)}).Render(t.Context())
		if want := "read config: read " + pipe + ": is a pipe, a socket or a device, want a regular file"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A file of a terabyte does not keep the program from stopping.
func TestStopWhileReading(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Skip(err) // no sparse files here
	}
	for name, output := range map[string]string{"only read": "", "rendered": filepath.Join(t.TempDir(), "out")} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			r := New(Options{Files: []File{{large, output}}, Expander: expand.New(expand.Kubernetes, nil)})
			if _, err := r.Render(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

package promconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// shared returns the path of a directory with real input next to the repository.
func shared(t *testing.T, name string) string {
	t.Helper()
	if dir := os.Getenv("FIREKEEPER_SHARED"); dir != "" {
		return filepath.Join(dir, name)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared", name)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// TestKubePrometheus: the manifests of kube-prometheus result in a document that
// Prometheus accepts, without rejected monitors or dropped keys.
func TestKubePrometheus(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(shared(t, "real/kube-prometheus"), "*.yaml"))
	if len(paths) == 0 {
		t.Skip("the manifests of kube-prometheus are not there")
	}
	w, err := readInput(golden.Case{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var meta runtime.TypeMeta
			if err := kyaml.Unmarshal(doc, &meta); err != nil {
				t.Fatal(err)
			}
			switch meta.Kind {
			case "Prometheus", "ServiceMonitor", "PodMonitor", "Secret", "ConfigMap":
				if err := w.add(doc); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
	}
	out, err := w.render()
	if err != nil {
		t.Fatal(err)
	}
	if len(w.services) < 10 || len(out.rejected) > 0 || len(out.dropped) > 0 {
		t.Errorf("%d ServiceMonitors, rejected %v, dropped %v", len(w.services), out.rejected, out.dropped)
	}
	checkDocument(t, w.prometheus.Spec.Version, out.text)
}

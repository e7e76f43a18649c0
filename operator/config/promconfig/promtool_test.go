package promconfig

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// promtool is Prometheus's own checker. It knows every discovery, which would
// draw the libraries of a dozen clouds into this module otherwise.
const promtool = "promtool"

// accepted remembers documents by their sum: many goldens share one.
var accepted sync.Map

// needsPromtool reports whether a document holds discoveries that config.Load
// of this test does not know.
func needsPromtool(doc yaml.MapSlice) bool {
	jobs, _ := golden.Child(doc, "scrape_configs").([]any)
	for _, job := range jobs {
		for _, item := range job.(yaml.MapSlice) {
			if key, _ := item.Key.(string); strings.HasSuffix(key, "_sd_configs") && key != "kubernetes_sd_configs" {
				return true
			}
		}
	}
	return false
}

// checkWithPromtool checks the syntax only: files that the document names are
// not there.
func checkWithPromtool(t testing.TB, name string, text []byte) {
	t.Helper()
	program, ok := programtest.Optional(t, promtool)
	if !ok {
		return // the test says more than whether promtool accepts the document
	}
	if _, done := accepted.LoadOrStore(sha256.Sum256(text), true); done {
		return
	}
	path := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := syntaxCheck(t, program, path).CombinedOutput(); err != nil {
		t.Errorf("%s: promtool refuses the document: %s\n%s", name, out, text)
	}
}

// syntaxCheck keeps promtool from asking the machine it runs on for the region
// of AWS.
func syntaxCheck(t testing.TB, program string, paths ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, append([]string{"check", "config", "--syntax-only"}, paths...)...)
	cmd.Env = append(os.Environ(), "AWS_REGION=eu-west-1", "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

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

// promtool is Prometheus' own checker. It supports every service discovery, which would
// otherwise add the libraries of a dozen clouds to this module.
const promtool = "promtool"

// accepted caches documents by checksum, because many golden files are identical.
var accepted sync.Map

// needsPromtool reports whether a document has service discoveries that config.Load does
// not support in this test.
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

// checkWithPromtool checks only the syntax, because files in the document do not exist.
func checkWithPromtool(t testing.TB, name string, text []byte) {
	t.Helper()
	program, ok := programtest.Optional(t, promtool)
	if !ok {
		return // the test checks more than whether promtool accepts the document
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

// syntaxCheck prevents promtool from querying the machine for its AWS region.
func syntaxCheck(t testing.TB, program string, paths ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), program, append([]string{"check", "config", "--syntax-only"}, paths...)...)
	cmd.Env = append(os.Environ(), "AWS_REGION=eu-west-1", "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

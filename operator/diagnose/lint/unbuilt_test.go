package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnbuiltKustomization: what a kustomization may change is no finding, in its own resources and those of its bases.
func TestUnbuiltKustomization(t *testing.T) {
	const server = anyPrometheus + "  serviceMonitorSelector: {matchLabels: {release: a}}\n  serviceMonitorNamespaceSelector: {}\n"
	const monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: mon}\nspec:\n  selector: {}\n  endpoints: [{port: a, intervall: 1s}]\n"
	for title, tc := range map[string]struct {
		overlay string
		want    string
		notes   string
	}{
		"labels":        {"resources: [../base]\ncommonLabels: {release: a}\n", "overlay/kustomization.yaml changes objects and was not built, and 1 finding that it may change left out: check the output of kustomize build", "0 notes"},
		"nothing":       {"resources: [../base]\n", "", "1 note"},
		"other objects": {"resources: [other.yaml, 'https://a.example/b?ref=c']\ncommonLabels: {release: a}\n", "overlay/kustomization.yaml changes objects and was not built: check", "1 note"},
	} {
		t.Run(title, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"server.yaml": server, "base/web.yaml": monitor, "base/kustomization.yaml": "resources: [web.yaml]\n", "overlay/kustomization.yaml": tc.overlay,
			} {
				at := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if err := run([]string{dir}, kinds()).Write(&out, "text"); err != nil {
				t.Fatal(err)
			}
			if text := out.String(); !strings.Contains(text, tc.want) || !strings.Contains(text, tc.notes) || !strings.Contains(text, `did you mean "interval"?`) || tc.want == "" && strings.Contains(text, "not built") {
				t.Errorf("want %q and %s, got\n%s", tc.want, tc.notes, text)
			}
		})
	}
}

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guideFlags are the flags of the operator that a guide requires.
var guideFlags = map[string][]string{"agents": {"--feature-gates=PrometheusAgentDaemonSet=true"}}

// objectLine matches the header of an object in a manifest that Prometheus or
// Alertmanager may use.
var objectLine = regexp.MustCompile(`(?m)^kind: (ServiceMonitor|PodMonitor|Probe|ScrapeConfig|PrometheusRule|AlertmanagerConfig)\nmetadata:(?: \{name: (\S+), namespace: (\S+)\}|\n  name: (\S+)\n  namespace: (\S+))`)

// The manifests of a guide are valid, and each object in them is used.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("the guides are %q (%v)", pages, err)
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		t.Run(name, func(t *testing.T) {
			page, dir := examples(t, path)
			files, err := os.ReadDir(dir)
			if err != nil || strings.Count(page, "```yaml\n#") != len(files) {
				t.Fatalf("%d files (%v) on a page with %d manifests", len(files), err, strings.Count(page, "```yaml\n#"))
			}
			if len(files) == 0 {
				return
			}
			out, _, code := runIn(t, dir, append([]string{"lint", "-f", "."}, guideFlags[name]...))
			if code != 0 || !strings.HasPrefix(string(out), "0 errors, 0 warnings, 0 notes in ") {
				t.Errorf("lint: exit code %d\n%s", code, out)
			}
			for _, m := range objectLine.FindAllStringSubmatch(page, -1) {
				object := m[3] + m[5] + "/" + m[2] + m[4]
				out, stderr, code := runIn(t, dir, append([]string{"explain", m[1], object, "-f", "."}, guideFlags[name]...))
				if code != 0 || !strings.Contains(string(out), "\nyes  ") {
					t.Errorf("explain %s %s: exit code %d\n%s%s", m[1], object, code, out, stderr)
				}
			}
		})
	}
}

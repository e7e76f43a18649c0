package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
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

// The guide names the default versions of the workloads.
func TestCompatibility(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Prometheus, PrometheusAgent | " + wellknown.DefaultPrometheusVersion + " |",
		"| Alertmanager | " + wellknown.DefaultAlertmanagerVersion + " |",
		"| ThanosRuler, Thanos sidecar | " + wellknown.DefaultThanosVersion + " |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, program := range []struct{ folder, module, format string }{
		{"prometheus", "github.com/prometheus/prometheus", "pods run v%s |"},
		{"alertmanager", "github.com/prometheus/alertmanager", "pods run v%s |"},
		{"thanos", "github.com/thanos-io/thanos", "pods run v%s |"},
		{"kubernetes", "k8s.io/kubernetes", "| %s |"},
	} {
		if want := fmt.Sprintf(program.format, testedVersion(t, program.folder, program.module)); !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q, the version of %s in tests", want, program.folder)
		}
	}
}

// testedVersion returns the version of a program that tests run in pods: that of its module. Prometheus 3.13.2 is the
// module 0.313.2; of Kubernetes only the minor version counts.
func testedVersion(t *testing.T, folder, module string) string {
	t.Helper()
	text, err := os.ReadFile("../../internal/cluster/programs/" + folder + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("the go.mod of %s does not require %s", folder, module)
	}
	version := string(m[1])
	switch folder {
	case "prometheus":
		version = regexp.MustCompile(`^0\.(\d)0?(\d+)`).ReplaceAllString(version, "$1.$2")
	case "kubernetes":
		version = version[:strings.LastIndex(version, ".")]
	}
	return version
}

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// pageFile matches a manifest on a page that begins with its file name.
var pageFile = regexp.MustCompile("(?s)```yaml\n(# (\\S+\\.yaml)\n.*?)```")

// examples writes the manifests of a page that begin with a file name to a new folder, and
// returns the page and the folder.
func examples(t *testing.T, path string) (page, dir string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, m := range pageFile.FindAllStringSubmatch(string(text), -1) {
		name := filepath.Join(dir, m[2])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(m[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return string(text), dir
}

// The pages name the maximum number of Secrets of a large configuration.
func TestPartsInDocs(t *testing.T) {
	for page, format := range map[string]string{
		"differences.md": "split over up to %d more, `prometheus-NAME-config-part-N`",
		"concepts.md":    "the Secrets `prometheus-NAME-config-part-1` to `-%d`",
	} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(format, workload.ConfigParts); !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q", page, want)
		}
	}
}

// The example of docs/route.md has the documented output.
func TestRouteDocs(t *testing.T) {
	page, dir := examples(t, "../../docs/route.md")
	args := strings.Fields("route alertname=WebDown namespace=demo severity=critical --config.file alertmanager.yaml --at 2026-11-22T10:00:00Z")
	if !strings.Contains(page, strings.Join(args, " ")) {
		t.Error("the page has another command")
	}
	out, stderr, code := runIn(t, dir, args)
	if code != 0 || !strings.Contains(page, "```\n"+string(out)+"```") {
		t.Errorf("exit code %d: %s\nthe page does not have\n%s", code, stderr, out)
	}
}

// The manifests of docs/thanosruler.md are valid.
func TestThanosRulerDocs(t *testing.T) {
	_, dir := examples(t, "../../docs/thanosruler.md")
	for _, file := range []string{"ruler.yaml", "stateless.yaml"} {
		out, _, code := runIn(t, dir, []string{"lint", "-f", file})
		if code != 0 || !strings.HasPrefix(string(out), "0 errors, 0 warnings, 0 notes in 2 objects") {
			t.Errorf("lint %s: exit status %d\n%s", file, code, out)
		}
	}
	for _, tc := range []struct{ args, want string }{
		{"explain prometheusrule demo/targets -f ruler.yaml", "yes  ThanosRuler demo/main\n"},
		{"render -f ruler.yaml --only rules", "partial_response_strategy: warn\n"},
		{"render -f stateless.yaml --only config", "username: ruler\n"},
		{"render -f ruler.yaml", "--alertmanagers.url=http://alertmanager.demo.svc:9093\n"},
	} {
		out, stderr, code := runIn(t, dir, strings.Fields(tc.args))
		if code != 0 || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: exit status %d\n%s%s", tc.args, code, stderr, out)
		}
	}
}

// The manifests of docs/alertmanager.md have the documented results.
func TestAlertmanagerDocs(t *testing.T) {
	_, dir := examples(t, "../../docs/alertmanager.md")
	for _, tc := range []struct{ args, want string }{
		{"lint -f alertmanager.yaml", "0 errors, 0 warnings, 0 notes in 2 objects"},
		{"explain amcfg demo/team-a -f alertmanager.yaml", "yes  Alertmanager demo/main\n"},
		{"render -f alertmanager.yaml --only config", "receiver: demo/team-a/hook\n"},
		{"render -f alertmanager.yaml", "name: alertmanager-main-generated\n"},
	} {
		out, stderr, code := runIn(t, dir, strings.Fields(tc.args))
		if code != 0 || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: exit status %d\n%s%s", tc.args, code, stderr, out)
		}
	}
}

// The example of docs/targets.md has the documented output.
func TestTargetsDocs(t *testing.T) {
	page, dir := examples(t, "../../docs/targets.md")
	args := "targets servicemonitor demo/web -f web.yaml --offline"
	if !strings.Contains(page, "`operator "+args+"`") {
		t.Error("the page has another command")
	}
	out, stderr, code := runIn(t, dir, strings.Fields(args))
	if code != 0 || !strings.Contains(page, "```\n"+string(out)+"```") {
		t.Errorf("exit code %d: %s\nthe page does not have\n%s", code, stderr, out)
	}
}

// The output in the page about troubleshooting is that in the page about targets, which is
// tested.
func TestTroubleshootingExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	page, _ := examples(t, "../../docs/targets.md")
	_, example, found := strings.Cut(string(text), "```\nServiceMonitor ")
	example, _, _ = strings.Cut(example, "```")
	if !found || strings.Count(example, "\n") < 3 || !strings.Contains(page, "ServiceMonitor "+example) {
		t.Errorf("docs/targets.md has no such answer:\n%s", example)
	}
}

// shownCommand matches a command line on a page, in a block or between backticks.
var shownCommand = regexp.MustCompile("(?:^|[|`$(] ?)(?:bin/)?(?:operator|kubectl[ -]firekeeper) ((?:lint|render|explain|targets|route|status|verify|crds) [^`|>\n]*)")

// Every command line on a page is valid.
func TestCommandsInDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	guides, _ := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatal(err, guides)
	}
	texts := map[string]string{}
	for _, page := range append(pages, guides...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[page] = string(text)
	}
	t.Chdir(t.TempDir())
	t.Setenv("KUBECONFIG", "/no/kubeconfig")
	count := 0
	for page, text := range texts {
		for line := range strings.Lines(text) {
			for _, m := range shownCommand.FindAllStringSubmatch(strings.TrimSuffix(line, "\n"), -1) {
				command, _, _ := strings.Cut(m[1], " #")
				args := strings.Fields(strings.NewReplacer("\"", "", "'", "").Replace(command))
				if isAbridged(args) {
					continue
				}
				count++
				placeholders(t, args)
				if _, _, stderr := invoke(args...); strings.Contains(stderr, "--help") {
					t.Errorf("%s: %s: %s", page, command, stderr)
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("%d commands are checked", count)
	}
}

// isAbridged reports whether a page shows only a part of a command line, one with placeholders or one that reads a pipe.
func isAbridged(args []string) bool {
	last := args[len(args)-1]
	return len(args) == 1 || strings.HasPrefix(last, "-") && !strings.HasPrefix(last, "--") || slices.Contains(args, "-") ||
		slices.ContainsFunc([]string{"…", "KIND", "=N", "<("}, func(part string) bool { return strings.Contains(strings.Join(args, " "), part) })
}

// placeholders creates the folders and manifests that a command line names.
func placeholders(t *testing.T, args []string) {
	t.Helper()
	for _, arg := range args {
		if _, value, found := strings.Cut(arg, "="); found && strings.HasPrefix(arg, "-") {
			arg = value
		}
		switch {
		case strings.HasSuffix(arg, "/"):
			if err := os.MkdirAll(arg, 0o755); err != nil {
				t.Fatal(err)
			}
		case strings.HasSuffix(arg, ".yaml"):
			if err := os.MkdirAll(filepath.Dir(arg), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(arg, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The page about explain names every reason.
func TestExplainDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/explain.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../operator/diagnose/explain/explain.go")
	if err != nil {
		t.Fatal(err)
	}
	reasons := regexp.MustCompile(`Reason = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(reasons) < 10 {
		t.Fatalf("the reasons are %q", reasons)
	}
	for _, m := range reasons {
		if !strings.Contains(string(page), "`"+m[1]+"`") {
			t.Errorf("docs/explain.md does not have %s", m[1])
		}
	}
}

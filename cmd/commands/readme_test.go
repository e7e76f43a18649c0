package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// The first Prometheus of the README selects its monitor and rule, an API server accepts
// it, and its ServiceAccount has the permissions for service discovery.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "## A first Prometheus")
	_, text, fenced := strings.Cut(text, "```yaml\n")
	text, _, closed := strings.Cut(text, "```")
	if !found || !fenced || !closed {
		t.Fatal("the README has no first Prometheus")
	}
	file := filepath.Join(t.TempDir(), "first.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"explain", "servicemonitor", "demo/main"}, {"explain", "prometheusrule", "demo/main"}, {"lint"}} {
		command(t, 0, append(args, "-f", file)...)
	}
	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	if out, err := c.KubectlInput(t.Context(), []byte(text), "apply", "--validate=strict", "-f", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, resource := range []string{"services", "endpointslices.discovery.k8s.io", "pods"} {
		for _, verb := range []string{"get", "list", "watch"} {
			out, err := c.Kubectl(t.Context(), "auth", "can-i", verb, resource, "-n", "demo", "--as=system:serviceaccount:demo:prometheus")
			if err != nil || strings.TrimSpace(string(out)) != "yes" {
				t.Errorf("%s %s: %s %v", verb, resource, out, err)
			}
		}
	}
	if out, _ := c.Kubectl(t.Context(), "auth", "can-i", "delete", "pods", "-n", "demo", "--as=system:serviceaccount:demo:prometheus"); strings.TrimSpace(string(out)) != "no" {
		t.Errorf("it may delete pods: %s", out)
	}
	if out, err := c.Kubectl(t.Context(), "delete", "namespace", "demo", "--wait=false"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The commands of the README have the documented output. A line "…" ends the shown part
// of a long output.
func TestReadmeCommands(t *testing.T) {
	page, dir := examples(t, "../../README.md")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "deploy"), filepath.Join(dir, "deploy")); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(page, "```console\n")
	text, _, closed := strings.Cut(text, "```")
	commands := strings.Split(text, "$ bin/operator ")[1:]
	if !closed || len(commands) < 3 {
		t.Fatalf("the README has %d commands", len(commands))
	}
	for _, c := range commands {
		line, want, _ := strings.Cut(c, "\n")
		stdout, stderr, _ := runIn(t, dir, strings.Fields(line))
		got := string(stdout)
		beginning, cut := strings.CutSuffix(want, "…\n")
		if cut && strings.HasPrefix(got, beginning) || strings.TrimSpace(got) == strings.TrimSpace(want) {
			continue
		}
		t.Errorf("%s prints\n%s%s", line, got, stderr)
	}
}

package commands

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// TestTakeoverManifests follows docs/takeover.md on a cluster with CRDs of the reference, whichever way they were
// installed: kubectl prints no warning, and afterwards nothing differs.
func TestTakeoverManifests(t *testing.T) {
	page, dir := examples(t, "../../docs/takeover.md")
	checkout, err := filepath.Abs("../..")
	if err == nil {
		err = os.Symlink(checkout, filepath.Join(dir, "firekeeper"))
	}
	if err != nil {
		t.Fatal(err)
	}
	c := clustertest.Start(t, cluster.Options{}) // not shared, because its CRDs are those of the reference
	kubectl := func(args ...string) (out, messages string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(c.Dir, "bin", "kubectl"), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
		}
		return stdout.String(), stderr.String()
	}
	for i, resource := range []string{"servicemonitors", "podmonitors", "prometheusrules"} {
		text, err := os.ReadFile("../../deploy/crds-full/monitoring.coreos.com_" + resource + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		const annotations = "  annotations:\n"
		changed := strings.Replace(string(text), annotations, annotations+"    operator.prometheus.io/version: 0.93.1\n", 1)
		if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		kubectl([][]string{
			{"apply", "--server-side", "-f", "crd.yaml"},
			{"apply", "--server-side", "--field-manager=helm", "-f", "crd.yaml"},
			{"create", "-f", "crd.yaml"},
		}[i%3]...)
	}
	for _, step := range []struct {
		command string
		silent  bool // also on standard output
	}{
		{"apply --server-side --force-conflicts -k .", false},
		{"diff --server-side -k .", true},
		{"apply --server-side -k .", false},
	} {
		if !strings.Contains(page, "kubectl "+step.command) {
			t.Errorf("the page has no kubectl %s", step.command)
		}
		out, messages := kubectl(strings.Fields(step.command)...)
		if messages != "" || step.silent && out != "" {
			t.Errorf("kubectl %s: %s%s", step.command, out, messages)
		}
	}
	out, _ := kubectl("-n", "firekeeper", "get", "deployment", "prometheus-operator", "-o", "jsonpath={.spec.template.spec.containers[0].args}")
	if !strings.HasPrefix(out, `["--reloader-layout=single","--prometheus-config-reloader=quay.io/`) || strings.Contains(out, "rules-reloader") {
		t.Errorf("the flags are %s", out)
	}
}

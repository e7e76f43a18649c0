package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With a cluster, explain -f reports on the cluster after applying the manifests, like
// targets -f.
func TestExplainOfManifestsOverCluster(t *testing.T) {
	const monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: %s, namespace: demo}\nspec:\n  selector: {matchLabels: {app: web}}\n  endpoints: [%s]"
	for name, tc := range map[string]struct {
		manifest, args, want string
		code                 int
	}{
		"a new monitor": {fmt.Sprintf(monitor, "new", "{port: http}"), "smon demo/new", "yes  Prometheus monitoring/k8s\n     accepted\n", 0},
		"a monitor that is wrong": {fmt.Sprintf(monitor, "web", "{port: http, interval: often}"), "smon demo/web",
			"new.yaml:6: error: spec.endpoints[0].interval", 2},
		"a monitor of the cluster that nobody selects any more": {
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: monitoring}\nspec: {serviceMonitorSelector: {}}",
			"smon demo/web", "no   Prometheus monitoring/k8s\n", 1},
		"a workload with a fault": {
			"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: k8s, namespace: monitoring}\nspec: {serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}, nothing: x}",
			"smon demo/web", "its manifest has faults, and is read without these fields: spec.nothing: unknown field", 0},
		"a document that cannot be read": {"kind: [", "smon demo/web", "new.yaml:1: yaml: ", 2},
	} {
		t.Run(name, func(t *testing.T) {
			url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "new.yaml"), []byte(tc.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(more string) (string, int) {
				t.Setenv("KUBERNETES_SERVICE_HOST", "")
				out, errs, code := runIn(t, dir, append([]string{"explain", "--apiserver=" + url}, strings.Fields(tc.args+" "+more)...))
				return string(out) + string(errs), code
			}
			if got, code := run("-f new.yaml"); code != tc.code || !strings.Contains(got, tc.want) {
				t.Errorf("exit code %d, want %d and %q\n%s", code, tc.code, tc.want, got)
			}
			if before, code := run(""); strings.Contains(before, tc.want) {
				t.Errorf("the manifests change nothing: exit code %d\n%s", code, before)
			}
			if alone, _ := run("-f new.yaml --offline"); strings.Contains(alone, "monitoring/team-b") {
				t.Errorf("--offline reads the cluster\n%s", alone)
			}
		})
	}
}

// If the cluster cannot be reached, the command fails and does not report on the manifests
// alone.
func TestExplainOfManifestsWithoutCluster(t *testing.T) {
	file, err := filepath.Abs("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--apiserver=http://127.0.0.1:1 -f " + file: "; --offline reads the manifests alone",
		"--offline": "--offline: needs manifests, given with -f",
	} {
		out, errs, code := runIn(t, t.TempDir(), append([]string{"explain", "smon", "demo/web"}, strings.Fields(args)...))
		if code != 2 || len(out) > 0 || !strings.Contains(string(errs), want) {
			t.Errorf("%s: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	if out, errs, code := runIn(t, t.TempDir(), []string{"explain", "smon", "demo/web", "--apiserver=http://127.0.0.1:1", "--offline", "-f", file}); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

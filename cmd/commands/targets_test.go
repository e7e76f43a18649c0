package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestTargets runs the command on the manifests of a golden file, or on cluster.yaml if it
// has none.
//
//	args          the arguments after "targets", one per line
//	want/text     the output; "wide", "json" and "csv" for that format, "stderr" for standard error
//	want/code     the exit code
func TestTargets(t *testing.T) {
	cluster, err := os.ReadFile("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/targets/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir, args, names := unpacked(t, c)
		if len(names) == 0 {
			names = []string{"cluster.yaml"}
			if err := os.WriteFile(filepath.Join(dir, names[0]), cluster, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append([]string{"targets"}, slices.DeleteFunc(args, func(a string) bool { return a == "" })...)
		for _, name := range names {
			args = append(args, "-f", name)
		}
		switch name {
		case "wide", "json", "csv":
			args = append(args, "--format="+name)
		}
		return once(t, c.Comment+strings.Join(args, " "), dir, args, name)
	})
}

// ran is the result of a command.
type ran struct {
	stdout, stderr []byte
	code           int
}

// commandRuns caches the results of the test, so that one run yields the output and the
// exit code.
var commandRuns = map[string]ran{}

// once is like printed but runs each command only once.
func once(t *testing.T, key, dir string, args []string, name string) ([]byte, error) {
	t.Helper()
	r, ok := commandRuns[key]
	if !ok {
		r.stdout, r.stderr, r.code = runIn(t, dir, args)
		commandRuns[key] = r
	}
	switch name {
	case "code":
		return fmt.Appendln(nil, r.code), nil
	case "stderr":
		return r.stderr, nil
	case "json":
		if !json.Valid(r.stdout) {
			return nil, fmt.Errorf("not JSON:\n%s", r.stdout)
		}
	}
	return r.stdout, nil
}

func TestTargetsWithoutClusterSaysWhereItLooked(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	_, stderr, code := runIn(t, dir, []string{"targets", "--kubeconfig=" + filepath.Join(dir, "none")})
	if code != 2 || !strings.Contains(string(stderr), "none: no such file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The given hosts are queried for the targets of a ScrapeConfig. URLs from a Secret are
// not.
func TestTargetsOfHTTPDiscoveries(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked += r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"targets": ["10.0.0.1:9100", "10.0.0.2:9100"], "labels": {"rack": "a"}}]`)
	}))
	defer server.Close()
	manifests := fmt.Sprintf(`apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec:
  shards: 2
  scrapeConfigSelector: {}
  additionalScrapeConfigs: {name: more, key: jobs.yaml}
---
apiVersion: v1
kind: Secret
metadata: {name: more, namespace: demo}
stringData: {jobs.yaml: '[{job_name: more, http_sd_configs: [{url: "%[1]s/secret"}]}]'}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: machines, namespace: demo}
spec:
  httpSDConfigs: [{url: "%[1]s/open"}]
  relabelings: [{sourceLabels: [__address__], regex: "10.0.0.2:.*", action: drop}]
`, server.URL)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := runIn(t, dir, strings.Fields("targets -f a.yaml --format=wide --http-sd=127.0.0.1"))
	for _, want := range []string{
		"job scrapeConfig/demo/machines   1 target, 1 dropped\n", `rack="a"`, "spec.relabelings[0] drops targets", "unknown  targets of http_sd_configs are found by the running Prometheus only",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("does not say %q", want)
		}
	}
	if asked != "/open" || code != 2 || t.Failed() {
		t.Errorf("asked %q, exit code %d\n%s%s", asked, code, out, stderr)
	}
}

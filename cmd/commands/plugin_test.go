package commands

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

func plugin(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Plugin(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// The plugin has the user commands, and its help has the name under which users call it.
func TestPlugin(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("web.yaml", []byte("apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: main, namespace: demo}\nspec: {serviceMonitorSelector: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, tc := range map[string]struct {
		code        int
		out, stderr string
	}{
		"":                              {0, "\nCommands:\n", ""},
		"--help":                        {0, "usage: kubectl firekeeper [<flags>] <command>", ""},
		"lint --help":                   {0, "  kubectl firekeeper lint manifests/", ""},
		"lnt":                           {2, "", `kubectl-firekeeper: unknown command "lnt", did you mean "lint"? See kubectl firekeeper --help`},
		"start":                         {2, "", `unknown command "start"`},
		"lint --web.listen-address=:80": {2, "", "see kubectl firekeeper lint --help"},
		"--version":                     {0, "kubectl-firekeeper, version " + version.Version, ""},
		"version":                       {0, "kubectl-firekeeper, version " + version.Version, ""},
		"lint web.yaml":                 {0, "0 errors", ""},
		"render web.yaml --only config --context x --instant-delivery=false": {0, "scrape_interval", ""},
		"crds print": {0, "kind: CustomResourceDefinition", ""},
	} {
		code, out, stderr := plugin(strings.Fields(line)...)
		if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("%q: exit %d\n%s%s", line, code, out, stderr)
		}
	}
	_, help, _ := plugin("--help")
	for _, not := range []string{"--leader-elect", "--web.", "--workers", "--manage-crds", "admission-webhook", "  start ", "crds apply", "\nIgnored"} {
		if strings.Contains(help, not) {
			t.Errorf("the help of the plugin has %q", not)
		}
	}
}

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubeconfig returns a kubeconfig with the contexts demo and monitoring, which have these
// namespaces, and bare without a namespace. current is the current context.
func kubeconfig(t *testing.T, url, current string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: %s
clusters: [{name: here, cluster: {server: %q}}]
users: [{name: me, user: {}}]
contexts:
- {name: demo, context: {cluster: here, user: me, namespace: demo}}
- {name: monitoring, context: {cluster: here, user: me, namespace: monitoring}}
- {name: bare, context: {cluster: here, user: me}}
`, current, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The namespace of an object defaults to that of the context, as in kubectl.
func TestNamespaceOfTheContext(t *testing.T) {
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for args, tc := range map[string]struct{ context, full string }{
		"explain smon web":                                 {"demo", "explain smon demo/web"},
		"targets smon/web":                                 {"demo", "targets smon demo/web"},
		"targets pod web-0":                                {"demo", "targets pod demo/web-0"},
		"targets prometheus k8s":                           {"monitoring", "targets prometheus monitoring/k8s"},
		"status prometheus k8s":                            {"monitoring", "status prometheus monitoring/k8s"},
		"explain smon web -n demo":                         {"monitoring", "explain smon demo/web"},
		"explain smon demo/web":                            {"monitoring", "explain smon web -n demo"},
		"explain smon none":                                {"bare", "explain smon default/none"},
		"explain smon some":                                {"unknown", "explain smon default/some"}, // the error is reported when connecting
		"explain smon none --apiserver=http://127.0.0.1:1": {"", "explain smon default/none --apiserver=http://127.0.0.1:1"},
		"status": {"monitoring", "status -n monitoring"}, // all namespaces
	} {
		t.Run(args, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "")
			if tc.context != "" {
				t.Setenv("KUBECONFIG", kubeconfig(t, url, tc.context))
			}
			var answers [2]string
			for i, line := range []string{args, tc.full} {
				out, errs, code := runIn(t, t.TempDir(), strings.Fields(line))
				answers[i] = fmt.Sprintf("%s%sexit code %d", out, errs, code)
			}
			if answers[0] != answers[1] {
				t.Errorf("%s\nof %s\n%s", answers[0], tc.full, answers[1])
			}
		})
	}
}

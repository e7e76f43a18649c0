package commands

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// completion returns the suggestions of the plugin after these words.
func completion(t *testing.T, kubeconfig string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"--completion-bash"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, asPlugin+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(string(out))
}

// Completion suggests kinds, then names of objects in the cluster.
func TestCompletion(t *testing.T) {
	items := func(names ...string) (out []v1.ServiceMonitor) {
		for _, name := range names {
			namespace, name, _ := strings.Cut(name, "/")
			out = append(out, v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
		}
		return out
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := v1.ServiceMonitorList{TypeMeta: metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "ServiceMonitorList"}}
		switch r.URL.Path {
		case "/apis/monitoring.coreos.com/v1/servicemonitors":
			list.Items = items("demo/web", "demo/db", "prod/web")
		case "/apis/monitoring.coreos.com/v1/namespaces/demo/servicemonitors":
			list.Items = items("demo/web", "demo/db")
		default:
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: x, cluster: {server: " + server.URL + "}}]\ncontexts: [{name: x, context: {cluster: x}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"explain ":                              {"servicemonitor", "podmonitor", "probe", "scrapeconfig", "prometheusrule", "alertmanagerconfig"},
		"explain serv":                          {"servicemonitor"},
		"explain servicemonitor":                {"demo/web", "demo/db", "prod/web"},
		"explain smon demo/":                    {"demo/web", "demo/db"},
		"explain -n demo smon":                  {"web", "db"},
		"targets smon prod":                     {"prod/web"},
		"targets ":                              {"prometheus", "prometheusagent", "servicemonitor", "podmonitor", "probe", "scrapeconfig"},
		"status ":                               {"prometheus", "prometheusagent", "alertmanager", "thanosruler"},
		"":                                      {"status", "explain", "crds", "lint"},
		"st":                                    {"status"},
		"crds ":                                 {"print"},
		"crds p":                                {"print"},
		"explain podmonitor":                    nil, // this caller has no permission to list them
		"explain --kubeconfig=/none smon demo/": nil,
	} {
		words := strings.Split(line, " ") // the last one is incomplete
		got := completion(t, kubeconfig, words...)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q suggests %q, not %s", line, got, w)
			}
		}
		if line == "st" && len(got) != 1 || line == "crds p" && len(got) != 1 {
			t.Errorf("%q suggests %q, too", line, got)
		}
		if want == nil && slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "/") }) {
			t.Errorf("%q suggests %q", line, got)
		}
	}
}

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// developed is a namespace of a team with a monitor that the Prometheus of another namespace does not select, and one
// that it selects.
const developed = `
apiVersion: v1
kind: Service
metadata: {name: app, namespace: NAMESPACE, labels: {app: app}}
spec: {selector: {app: app}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: app, namespace: NAMESPACE, labels: {app: app}}
spec: {containers: [{name: app, image: app, ports: [{name: http, containerPort: 80}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: forgotten, namespace: NAMESPACE}
spec: {selector: {matchLabels: {app: app}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: app, namespace: NAMESPACE, labels: {release: ID}}
spec: {selector: {matchLabels: {app: app}}, endpoints: [{port: web}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: developer, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: developer, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: developer, namespace: NAMESPACE}]
`

// TestDeveloper: a developer with the role edit in one namespace gets errors that name the ClusterRole for developers, and
// with it finds out why a monitor of that namespace is not used or has no targets.
func TestDeveloper(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "developer"
	w.applyFile(t, deploy(t, "components/user-roles/roles.yaml"))
	w.operator(t, id, "", "--controller-id="+id)
	servers, team := w.namespace(t), w.namespace(t)
	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: "ID"}}
spec: {serviceMonitorSelector: {matchLabels: {release: ID}}, serviceMonitorNamespaceSelector: {}}
`, servers, id))
	w.apply(t, fill(developed, team, id))
	w.reconciled(t, servers, "main", "True")
	user := "system:serviceaccount:" + team + ":developer"
	here := []string{"--controller-id=" + id}
	ask := func(command string, args ...string) (string, int) {
		t.Helper()
		return w.command(t, command, user, append(args, here...)...)
	}
	const names = "the ClusterRole firekeeper-developer permits it"
	eventually(t, "the developer may edit the namespace", func() error {
		text, code := ask("explain", "smon", team+"/forgotten")
		if code != 2 || !strings.Contains(text, names) {
			return fmt.Errorf("exit %d: %s", code, text)
		}
		return nil
	})
	for _, args := range [][]string{{"targets", "smon", team + "/app"}, {"targets", "-n", team}, {"status"}} {
		if text, code := ask(args[0], args[1:]...); code != 2 || !strings.Contains(text, names) {
			t.Errorf("%q: exit %d: %s", args, code, text)
		}
	}
	w.apply(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-developer-role}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: firekeeper-developer}
subjects: [{kind: ServiceAccount, name: developer, namespace: %s}]
`, team))
	eventually(t, "the developer may read workloads", func() error {
		text, code := ask("explain", "smon", team+"/forgotten")
		if code != 1 || !strings.Contains(text, "release="+id) {
			return fmt.Errorf("exit %d: %s", code, text)
		}
		return nil
	})
	for _, tc := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"explain", "smon", team + "/app"}, 0, []string{"is used by 1 of ", `Service ` + team + `/app has no port named "web"; it has http (80)`}},
		{[]string{"targets", "smon", team + "/app"}, 0, []string{"no targets", `has no port named "web"`}},
		// Workloads of other tests may select everything.
		{[]string{"targets", "-n", team, "--namespaces=" + team + "," + servers}, 0, []string{team + "/app", team + "/forgotten"}},
		{[]string{"status", "prometheus", servers + "/main"}, 1, []string{"1 accepted", "no permission to list pods"}},
		{[]string{"status"}, 1, []string{servers + "/main"}},
	} {
		text, code := ask(tc.args[0], tc.args[1:]...)
		if code != tc.code || strings.Contains(text, names) {
			t.Errorf("%q: exit %d, want %d\n%s", tc.args, code, tc.code, text)
		}
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %q\n%s", tc.args, want, text)
			}
		}
	}
	pages := w.ui(t, user, append(here, "--namespaces="+team+","+servers)...) // without the namespaces of other tests
	for path, want := range map[string][]string{
		"/": {"main"},
		"/servicemonitors/" + team + "/forgotten": {"release"},
		"/servicemonitors/" + team + "/app":       {"no port named"},
		"/prometheuses/" + servers + "/main":      {team + "/app"},
	} {
		var body string
		eventually(t, path+" is answered", func() error {
			code, text := pages.get(t, path)
			if body = text; code != http.StatusOK { // 504 beside the load of other tests
				return fmt.Errorf("%d", code)
			}
			return nil
		})
		for _, word := range want {
			if !strings.Contains(body, word) {
				t.Errorf("%s: no %q\n%s", path, word, body)
			}
		}
	}
}

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// watchStatus runs the command status with --watch until the end of the test, and returns its output.
func (w *environment) watchStatus(t *testing.T, user string, args ...string) *logtest.Log {
	t.Helper()
	out := &logtest.Log{}
	cmd := exec.CommandContext(t.Context(), w.commands, append([]string{"status", "--watch", "--as=" + user}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	cmd.Stdout, cmd.Stderr = out, out
	child.DiesWithUs(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	return out
}

func contains(out fmt.Stringer, words string) error {
	if text := out.String(); !strings.Contains(text, words) {
		return fmt.Errorf("no %q in\n%s", words, text)
	}
	return nil
}

const statusReader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: integration-status-reader}
rules:
- {apiGroups: [monitoring.coreos.com], resources: ["*"], verbs: [get, list, watch]}
- {apiGroups: [apps], resources: [statefulsets], verbs: [get]}
- {apiGroups: [""], resources: [namespaces, pods, events], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-status-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: integration-status-reader}
subjects: [{kind: User, name: integration-status-reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: status-few, namespace: NAMESPACE}
rules:
- {apiGroups: [monitoring.coreos.com], resources: [prometheuses], verbs: [get]}
- {apiGroups: [monitoring.coreos.com], resources: [podmonitors], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: status-few, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: status-few}
subjects: [{kind: User, name: integration-status-few}]
`

// The command status shows a Prometheus with a running pod, then with a rejected object, and to a user with few
// permissions.
func TestStatus(t *testing.T) {
	w := start(t)
	t.Parallel()
	const ip = "127.93.7.9"
	pod := &theirs{}
	pod.serve(t, ip)
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: status}")
	o := w.operator(t, "status", "", "--controller-id=status")
	ns := w.deployed(t, o, "status")
	w.apply(t, fill(statusReader, ns, ""))
	w.place(t, ns, "prometheus-web-0", "status")
	pod.load(true)
	w.runs(t, ns, "prometheus-web-0", ip, 1)

	shows := func(user string, code int, args []string, want ...string) {
		t.Helper()
		eventually(t, fmt.Sprintf("status %v as %s", args, user), func() error {
			text, got := w.command(t, "status", user, append(args, "--controller-id=status")...)
			for _, words := range want {
				if !strings.Contains(text, words) {
					return fmt.Errorf("exit %d, no %q in\n%s", got, words, text)
				}
			}
			if got != code {
				return fmt.Errorf("exit %d, want %d\n%s", got, code, text)
			}
			return nil
		})
	}
	const reader, few = "integration-status-reader", "integration-status-few"
	shows(reader, 0, []string{"prometheus", ns + "/web"}, "Prometheus "+ns+"/web\n",
		"Reconciled          the operator has written everything", "Available           all pods are ready",
		"ConfigApplied       all pods run the latest configuration", "prometheus-web-0    ready, 1 restarts, runs the configuration ")
	shows(reader, 0, []string{"-n", ns}, "Prometheus "+ns+"/web  True        True       True     1/1 ")

	watched := w.watchStatus(t, reader, "prom", ns+"/web", "--controller-id=status")
	eventually(t, "the watch prints the page", func() error { return contains(watched, "Prometheus "+ns+"/web\n") })

	w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: slow, namespace: NAMESPACE}
spec: {selector: {}, podMetricsEndpoints: [{port: http, interval: 10s, scrapeTimeout: 20s}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: alone, namespace: NAMESPACE}
spec: {prober: {url: "prober:80"}, targets: {staticConfig: {static: [a]}}}
`, ns, ""))
	shows(reader, 1, []string{"prom/web", "-n", ns}, "1 rejected", "rejected "+ns+"/slow\n", "scrapeTimeout: 20s is longer than the interval 10s",
		"not selected "+ns+"/alone", "spec.probeSelector is not set")
	eventually(t, "the watch prints the change", func() error { return contains(watched, "rejected "+ns+"/slow\n") })
	shows(few, 1, []string{"prom", ns + "/web"}, "rejected "+ns+"/slow\n", "pods\n  not read\n", "\nnot read\n", "no permission to list podmonitors.monitoring.coreos.com in namespaces other than "+ns,
		"no permission to list servicemonitors.monitoring.coreos.com in all namespaces", "cannot read namespace labels", "no permission to list events in namespace "+ns)
	shows(few, 2, []string{}, "list prometheuses.monitoring.coreos.com in all namespaces: ", "the ClusterRole firekeeper-developer permits it")
	shows(reader, 2, []string{"prom", ns + "/none"}, "Prometheus "+ns+"/none does not exist in the cluster")
}

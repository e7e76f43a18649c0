package integration

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// command runs a command of the operator binary as a user, and returns its output and exit code.
func (w *environment) command(t *testing.T, name, user string, args ...string) (text string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.commands, append([]string{name, "--as=" + user}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), 0
}

// The command explain works in a cluster with the documented permissions.
func TestExplain(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "explain", "", "--controller-id=explain")
	ns := w.namespace(t)
	w.apply(t, fill(bound+"---"+ruler, ns, "explain"))
	w.reconciled(t, ns, "web", "True")
	w.reports(t, thanosRuler(ns, "web"), "True")
	o.settle(t)
	const reader = "integration-explain-reader"
	w.apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: integration-explain-reader}
rules:
- {apiGroups: [monitoring.coreos.com], resources: [servicemonitors, probes, prometheusrules], verbs: [get]}
- {apiGroups: [monitoring.coreos.com], resources: [prometheuses, prometheusagents, thanosrulers], verbs: [list]}
- {apiGroups: [""], resources: [namespaces], verbs: [get]}
- {apiGroups: [""], resources: [configmaps], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-explain-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: integration-explain-reader}
subjects: [{kind: User, name: integration-explain-reader}]
`)
	here := []string{"--controller-id=explain", "--prometheus-instance-namespaces=" + ns, "--thanos-ruler-instance-namespaces=" + ns}
	// Objects that may only be read by name are found with a delay.
	eventually(t, "the reader may read", func() error {
		text, code := w.command(t, "explain", reader, append([]string{"smon", ns + "/app"}, here...)...)
		if code != 0 {
			return errors.New(text)
		}
		return nil
	})
	rule, err := w.get(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app")
	if err != nil {
		t.Fatal(err)
	}
	file := "file      " + ns + "-app-" + string(rule.GetUID()) + ".yaml in ConfigMap "
	for name, tc := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"a monitor is a job":  {append([]string{"servicemonitors", ns + "/app"}, here...), 0, []string{"ServiceMonitor " + ns + "/app is used by 1 of ", "job       serviceMonitor/" + ns + "/app/0"}},
		"a rule is in a file": {append([]string{"promrule", ns + "/app"}, here...), 0, []string{file + "prometheus-web-rulefiles-0", file + "thanos-ruler-web-rulefiles-0"}},
		"another operator's":  {[]string{"prb", ns + "/app", "--prometheus-instance-namespaces=" + ns}, 1, []string{`its annotation operator.prometheus.io/controller-id is "explain"`}},
		"it does not exist":   {append([]string{"smon", ns + "/none"}, here...), 2, []string{"ServiceMonitor " + ns + "/none does not exist in the cluster"}},
		"it may not be read":  {append([]string{"pmon", ns + "/app"}, here...), 2, []string{"read PodMonitor " + ns + "/app: ", "forbidden"}},
		"its Secrets may not": {append([]string{"smon", ns + "/login"}, here...), 2, []string{"unknown: cannot read a Secret or ConfigMap it refers to"}},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(tc.args[1], "/login") {
				w.apply(t, fill(`
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: login, namespace: NAMESPACE}
spec: {selector: {}, endpoints: [{port: http, basicAuth: {username: {name: login, key: user}}}]}
`, ns, ""))
			}
			text, code := w.command(t, "explain", reader, tc.args...)
			if code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

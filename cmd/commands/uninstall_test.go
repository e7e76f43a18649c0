package commands

import (
	"os"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// The steps of docs/install.md remove everything: no finalizer blocks them, and data is
// kept.
func TestUninstall(t *testing.T) {
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	c := clustertest.Start(t, cluster.Options{ControllerManager: true}) // not shared, because the CRDs are deleted
	kubectl := func(args ...string) string {
		t.Helper()
		out, err := c.Kubectl(t.Context(), args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	kubectl("apply", "-k", "../../deploy")
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	stop := background(t,
		"--kubeconfig="+c.Kubeconfig, "--as=system:serviceaccount:firekeeper:prometheus-operator", "--web.listen-address=127.0.0.1:0",
		"--feature-gates=StatusForConfigurationResources=true", // adds a finalizer to workloads
	)
	kubectl("create", "namespace", "demo")
	if out, err := c.KubectlInput(t.Context(), []byte(stored), "apply", "-n", "demo", "-f", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command(t, 0, "verify", "--kubeconfig="+c.Kubeconfig, "--reconciled=prometheus/demo/main")
	kubectl("-n", "demo", "wait", "--for=create", "persistentvolumeclaim/prometheus-main-db-prometheus-main-0", "--timeout=2m")
	if got := kubectl("-n", "demo", "get", "prometheus", "main", "-o", "jsonpath={.metadata.finalizers}"); !strings.Contains(got, "status-cleanup") {
		t.Errorf("finalizers %s", got)
	}

	const objects = "delete prometheuses,prometheusagents,alertmanagers,thanosrulers --all --all-namespaces"
	if !strings.Contains(string(page), "kubectl "+objects+"\n") {
		t.Errorf("the page has no %q", objects)
	}
	kubectl(append(strings.Fields(objects), "--timeout=2m")...)
	kubectl("-n", "demo", "wait", "--for=delete", "statefulset/prometheus-main", "--timeout=2m")
	stop()
	if want := "kubectl delete -k deploy --ignore-not-found\n"; !strings.Contains(string(page), want) {
		t.Errorf("the page has no %q", want)
	}
	kubectl("delete", "-k", "../../deploy", "--ignore-not-found", "--timeout=3m") // deletes the namespace first, with its objects

	if left := kubectl("get", "crds", "-o", "name") + kubectl("get", "clusterroles,clusterrolebindings,namespaces", "-l", "app.kubernetes.io/name=prometheus-operator", "-o", "name"); left != "" {
		t.Errorf("these stay:\n%s", left)
	}
	const claims = "get pvc -A -l app.kubernetes.io/managed-by=prometheus-operator"
	if got := kubectl(append(strings.Fields(claims), "-o", "name")...); got != "persistentvolumeclaim/prometheus-main-db-prometheus-main-0\n" || !strings.Contains(string(page), claims) {
		t.Errorf("volume claims that stay: %q", got)
	}
	if left := kubectl("-n", "demo", "get", "secrets,configmaps", "-l", "app.kubernetes.io/managed-by=prometheus-operator", "-o", "name"); left != "" {
		t.Errorf("these stay:\n%s", left)
	}
}

const stored = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main}
spec:
  ruleSelector: {}
  storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: rules}
spec: {groups: [{name: g, rules: [{record: a, expr: vector(1)}]}]}
`

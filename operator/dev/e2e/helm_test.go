package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// release is a Helm release.
type release struct {
	node
	helm            string // path of the helm binary
	name, namespace string
	env             []string
}

// run runs helm and returns its combined output.
func (r release) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.helm, append(args, "--namespace="+r.namespace)...)
	cmd.Env = append(os.Environ(), r.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// must is like run, and fails the test on errors.
func (r release) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.run(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// release stops the operator of deploy/ until the end of the test, which uninstalls the release.
func (n node) release(t *testing.T, name, namespace string) release {
	t.Helper()
	found, err := programs.Default(os.Stderr).Find(t.Context(), "helm")
	if err != nil {
		t.Fatal(err)
	}
	scale := func(ctx context.Context, replicas int) error {
		_, err := n.Kubectl(ctx, "-n", "firekeeper", "scale", "deployment", "prometheus-operator", fmt.Sprintf("--replicas=%d", replicas))
		if err == nil {
			_, err = n.Kubectl(ctx, "-n", "firekeeper", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m")
		}
		return err
	}
	if err := scale(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	n.kubectl(t, "-n", "firekeeper", "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=controller", "--timeout=2m")
	dir := t.TempDir()
	r := release{node: n, helm: found["helm"], name: name, namespace: namespace, env: []string{
		"KUBECONFIG=" + n.Kubeconfig, "HELM_CACHE_HOME=" + dir, "HELM_CONFIG_HOME=" + dir, "HELM_DATA_HOME=" + dir,
	}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if t.Failed() {
			out, _ := n.Kubectl(ctx, "-n", r.namespace, "get", "all,events", "-o", "wide")
			logs, _ := n.Kubectl(ctx, "-n", r.namespace, "logs", "-l", "app.kubernetes.io/name=prometheus-operator", "--tail=40", "--prefix")
			t.Logf("%s\n%s", out, logs)
		}
		if _, err := r.run(ctx, "uninstall", r.name, "--ignore-not-found", "--wait"); err != nil {
			t.Error(err)
		}
		for _, args := range [][]string{
			{"delete", "namespace", r.namespace, "--wait=false"},
			{"-n", "kube-system", "delete", "service,endpoints,endpointslices", "-l", "app.kubernetes.io/managed-by=prometheus-operator"},
			{"replace", "-f", definition("alertmanagerconfigs")},
		} {
			if _, err := n.Kubectl(ctx, args...); err != nil {
				t.Error(err)
			}
		}
		if err := errors.Join(n.withoutV1beta1(ctx), scale(ctx, 1)); err != nil {
			t.Error(err)
		}
	})
	return r
}

// definition returns the path of the file of a CRD.
func definition(resource string) string {
	return filepath.Join(root(), "deploy", "crds", "monitoring.coreos.com_"+resource+".yaml")
}

// TestChart covers the life of a release: install, test, upgrade with changed CRDs, uninstall. A Prometheus keeps
// running throughout, and is managed by the operator of deploy/ afterwards. The test is not parallel because the
// webhooks apply to the whole cluster.
func TestChart(t *testing.T) {
	long(t)
	n := start(t)
	s := n.space(t, "chart")
	r := n.release(t, "firekeeper", "e2e-chart")
	chart := filepath.Join(root(), "deploy", "chart")

	t.Log(r.must(t, "install", "firekeeper", chart, "--create-namespace", "--wait", "--timeout=4m",
		"--set=webhook.enabled=true,webhook.conversion=true,webhook.replicas=1,kubelet.enabled=true,monitoring.rules=true"))
	r.tested(t)
	s.apply(t, chartServer)
	s.in(t, "wait", "--for=condition=Available", "prometheus/main", "--timeout=4m")
	pod := n.uid(t, s.name, "pod/prometheus-main-0")
	t.Run("the webhook refuses a wrong rule", func(t *testing.T) {
		out, err := n.KubectlInput(t.Context(), []byte(wrongRule), "apply", "-n", s.name, "-f", "-")
		if err == nil || !strings.Contains(err.Error()+string(out), "spec.groups[0].rules[0].expr") {
			t.Errorf("a wrong rule: %v\n%s", err, out)
		}
	})
	t.Run("AlertmanagerConfigs have both versions", func(t *testing.T) {
		s.in(t, "get", "alertmanagerconfigs.v1beta1.monitoring.coreos.com")
	})
	t.Run("the kubelet has a Service", func(t *testing.T) {
		until(t, "EndpointSlice", patience, func(ctx context.Context) (bool, error) {
			out, err := n.Kubectl(ctx, "-n", "kube-system", "get", "endpointslices", "-l", "kubernetes.io/service-name=kubelet", "-o", "jsonpath={.items[*].endpoints[*].addresses}")
			return len(out) > 0, err
		})
	})
	t.Run("a test without an operator fails", func(t *testing.T) {
		n.kubectl(t, "-n", r.namespace, "scale", "deployment", "firekeeper", "--replicas=0")
		n.kubectl(t, "-n", r.namespace, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=controller", "--timeout=2m")
		if out, err := r.run(t.Context(), "test", "firekeeper", "--timeout=15s"); err == nil {
			t.Errorf("the test of a release without an operator succeeds:\n%s", out)
		}
		n.kubectl(t, "-n", r.namespace, "scale", "deployment", "firekeeper", "--replicas=1")
	})
	t.Run("an upgrade brings the CRDs", func(t *testing.T) {
		const field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/jobName"
		n.kubectl(t, "patch", "crd", "probes.monitoring.coreos.com", "--type=json", "-p", `[{"op":"remove","path":"`+field+`"}]`)
		r.must(t, "upgrade", "firekeeper", chart, "--reuse-values", "--set=logLevel=debug", "--wait", "--timeout=4m")
		path := "jsonpath={" + strings.ReplaceAll(strings.ReplaceAll(field, "/versions/0/", "/versions[0]/"), "/", ".") + ".type}"
		if got := n.kubectl(t, "get", "crd", "probes.monitoring.coreos.com", "-o", path); got != "string" {
			t.Errorf("jobName of Probes is %q", got)
		}
		r.tested(t)
	})
	t.Run("a rollback", func(t *testing.T) {
		r.must(t, "rollback", "firekeeper", "1", "--wait", "--timeout=4m")
		r.tested(t)
	})
	t.Run("uninstall leaves what users declared", func(t *testing.T) {
		r.must(t, "uninstall", "firekeeper", "--wait", "--timeout=4m")
		if left := n.kubectl(t, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,clusterrolebindings",
			"-l", "app.kubernetes.io/instance=firekeeper", "-o", "name"); left != "" {
			t.Errorf("helm leaves\n%s", left)
		}
		// As described in docs/install.md.
		n.kubectl(t, "replace", "-f", definition("alertmanagerconfigs"))
		s.apply(t, wrongRule)
		s.in(t, "delete", "prometheusrule", "wrong")
	})
	n.kubectl(t, "-n", "firekeeper", "scale", "deployment", "prometheus-operator", "--replicas=1")
	s.patch(t, "main", `{"spec":{"scrapeInterval":"15s"}}`)
	s.in(t, "wait", "--for=jsonpath={.status.conditions[?(@.type==\"Reconciled\")].observedGeneration}=2", "prometheus/main", "--timeout=4m")
	if now := n.uid(t, s.name, "pod/prometheus-main-0"); now != pod {
		t.Errorf("the pod was replaced: %s, then %s", pod, now)
	}
}

// TestChartOnANewCluster installs the chart with everything of its monitoring on a cluster without the CRDs, with one
// command. The objects of these kinds belong to the release from the next upgrade on. The test is not parallel because
// it deletes the CRDs, with all objects.
func TestChartOnANewCluster(t *testing.T) {
	long(t)
	n := start(t)
	r := n.release(t, "firekeeper", "e2e-new")
	chart := filepath.Join(root(), "deploy", "chart")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := n.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(root(), "deploy", "crds")); err != nil {
			t.Error(err)
		}
	})
	n.kubectl(t, "delete", "-f", filepath.Join(root(), "deploy", "crds"))

	settings := []string{chart, "--create-namespace", "--wait", "--timeout=4m",
		"--set=monitoring.serviceMonitor=true,monitoring.rules=true,monitoring.dashboard=true,webhook.enabled=true,webhook.replicas=1,kubelet.enabled=true"}
	began := time.Now()
	t.Log(r.must(t, append([]string{"install", "firekeeper"}, settings...)...))
	t.Logf("helm install took %s", time.Since(began).Round(100*time.Millisecond))
	r.tested(t)
	of := func() string {
		return n.kubectl(t, "-n", r.namespace, "get", "servicemonitors,prometheusrules", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.uid}{\"\\n\"}{end}")
	}
	first := of()
	if strings.Count(first, "\n") != 1 || !strings.Contains(first, "ServiceMonitor") || !strings.Contains(first, "PrometheusRule") {
		t.Errorf("after the installation there are\n%s", first)
	}
	for _, tc := range []struct{ when, logs string }{{"the upgrade that adopts them", "debug"}, {"another upgrade", "info"}} {
		r.must(t, append([]string{"upgrade", "firekeeper", "--set=logLevel=" + tc.logs}, settings...)...)
		if now := of(); now != first {
			t.Errorf("after %s there are\n%s\nafter the installation:\n%s", tc.when, now, first)
		}
	}
	r.tested(t)
	r.must(t, "uninstall", "firekeeper", "--wait", "--timeout=4m")
	if left := of(); left != "" {
		t.Errorf("helm uninstall leaves\n%s", left)
	}
}

// tested runs the tests of the release, possibly right after a start of the operator.
func (r release) tested(t *testing.T) {
	t.Helper()
	// The pod of the webhook is ready slightly before the node routes its Service.
	rule := strings.ReplaceAll(wrongRule, "up)", "up")
	until(t, "the webhook answers", patience, func(ctx context.Context) (bool, error) {
		_, err := r.KubectlInput(ctx, []byte(rule), "apply", "--dry-run=server", "-n", r.namespace, "-f", "-")
		return err == nil, err
	})
	began := time.Now()
	out := r.must(t, "test", "firekeeper", "--logs", "--timeout=3m")
	for _, want := range []string{
		"ok    the API server serves all kinds of monitoring.coreos.com\n", "ok    the operator reconciles Prometheus " + r.namespace + "/firekeeper-test\n",
		"ok    the admission webhook has checked PrometheusRule " + r.namespace + "/firekeeper-test\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("helm test does not say %q:\n%s", want, out)
		}
	}
	t.Logf("helm test took %s", time.Since(began).Round(100*time.Millisecond))
	if left := r.kubectl(t, "-n", r.namespace, "get", "prometheuses,prometheusrules,roles,rolebindings,serviceaccounts", "-l", "app.kubernetes.io/component=test", "-o", "name"); left != "" {
		t.Errorf("helm test leaves\n%s", left)
	}
}

// uid returns the UID of an object, which changes if the object is recreated.
func (n node) uid(t *testing.T, namespace, name string) string {
	t.Helper()
	return n.kubectl(t, "-n", namespace, "get", name, "-o", "jsonpath={.metadata.uid}")
}

const (
	chartServer = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main}
spec: {ruleSelector: {}, resources: {requests: {memory: 50Mi}}}
`
	wrongRule = `
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: wrong}
spec: {groups: [{name: g, rules: [{alert: A, expr: "up)"}]}]}
`
)

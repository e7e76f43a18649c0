package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

// onlyMonitoring disables the dependencies of the chart, and its CRDs.
const onlyMonitoring = `
grafana: {enabled: false, forceDeployDashboards: false}
nodeExporter: {enabled: false}
kubeStateMetrics: {enabled: false}
crds: {enabled: false}
`

// stackObjects returns the objects of the chart kube-prometheus-stack with the values of docs/switching.md, as the
// release kps.
func stackObjects(t *testing.T) []map[string]any {
	t.Helper()
	from := filepath.Join(os.Getenv("FIREKEEPER_SHARED"), "real", "kube-prometheus-stack", "chart")
	if os.Getenv("FIREKEEPER_SHARED") == "" {
		from = "../../../shared/real/kube-prometheus-stack/chart"
	}
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the chart kube-prometheus-stack is not at %s (set FIREKEEPER_SHARED)", from)
	}
	chart, err := loader.LoadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	_, dir := examples(t, "../../docs/switching.md")
	given, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rest, err := chartutil.ReadValues([]byte(onlyMonitoring))
	if err != nil {
		t.Fatal(err)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	values, err := chartutil.ToRenderValues(chart, chartutil.CoalesceTables(given, rest), chartutil.ReleaseOptions{
		Name: "kps", Namespace: "stack", IsInstall: true,
	}, capabilities)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := engine.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for name, text := range texts {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for _, document := range strings.Split("\n"+text, "\n---") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if object["kind"] != nil {
				out = append(out, object)
			}
		}
	}
	return out
}

// below returns the value at a path of an object.
func below(object map[string]any, path ...string) any {
	var at any = object
	for _, key := range path {
		inner, _ := at.(map[string]any)
		at = inner[key]
	}
	return at
}

// TestSwitchStackChart follows docs/switching.md with the real chart: the Deployment gets the image and the flag,
// and with these flags and its ServiceAccount, the operator reconciles all objects of the chart.
func TestSwitchStackChart(t *testing.T) {
	all := stackObjects(t)
	var flags []string
	account, monitors := "", 0
	all = slices.DeleteFunc(all, func(o map[string]any) bool {
		kind, _ := o["kind"].(string)
		if kind == "ServiceMonitor" {
			monitors++
		}
		hook, _ := below(o, "metadata", "annotations").(map[string]any)
		return hook["helm.sh/hook"] != nil || strings.HasSuffix(kind, "WebhookConfiguration") // webhooks have no server
	})
	for _, o := range all {
		if o["kind"] != "Deployment" {
			continue
		}
		container := below(o, "spec", "template", "spec", "containers").([]any)[0].(map[string]any)
		if container["image"] != "registry.example/firekeeper/operator:v0.1.0" {
			t.Errorf("the image is %v", container["image"])
		}
		if strategy := below(o, "spec", "strategy", "type"); strategy != "Recreate" {
			t.Errorf("the strategy is %v", strategy)
		}
		account, _ = below(o, "spec", "template", "spec", "serviceAccountName").(string)
		for _, flag := range container["args"].([]any) {
			if text := flag.(string); !strings.HasPrefix(text, "--web.") { // a Job creates the certificate
				flags = append(flags, text)
			}
		}
	}
	if !slices.Contains(flags, "--reloader-layout=single") || account == "" || monitors < 10 {
		t.Fatalf("account %q, %d monitors, flags %v", account, monitors, flags)
	}

	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := yaml.Marshal(map[string]any{ // a Job of the chart creates it
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "stack", "name": "kps-kube-prometheus-stack-admission"}, "data": map[string]any{"ca": ca},
	})
	if err != nil {
		t.Fatal(err)
	}
	manifests := slices.Concat([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: stack}\n---\n"), certificate)
	for _, o := range all {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(append(manifests, "---\n"...), text...)
	}
	t.Cleanup(func() {
		if out, err := c.Kubectl(context.Background(), "delete", "namespace", "stack", "--wait=false"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if out, err := c.KubectlInput(t.Context(), manifests, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stop := background(t, append(flags, "--kubeconfig="+c.Kubeconfig, "--as=system:serviceaccount:stack:"+account, "--web.listen-address=127.0.0.1:0")...)
	for _, object := range []string{"prometheus/stack/kps-kube-prometheus-stack-prometheus", "alertmanager/stack/kps-kube-prometheus-stack-alertmanager"} {
		var out, errors bytes.Buffer
		if got := Operator(t.Context(), []string{"verify", "--kubeconfig=" + c.Kubeconfig, "--reconciled=" + object, "--timeout=90s"}, &out, &errors); got != 0 {
			t.Errorf("verify %s: exit code %d\n%s%s", object, got, &out, &errors)
		}
	}
	var out bytes.Buffer
	Operator(t.Context(), []string{"status", "--kubeconfig=" + c.Kubeconfig, "--format=json"}, &out, &out)
	var got status.Overview
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	accepted := map[string]int{}
	for _, w := range got.Workloads {
		if w.Workload.Namespace != "stack" {
			continue
		}
		for _, objects := range w.Objects {
			for _, group := range objects.Groups {
				if group.State == status.Rejected {
					t.Errorf("%s rejects %v", w.Workload, group)
				}
				if group.State == status.Accepted {
					accepted[objects.Kind] += len(group.Names)
				}
			}
		}
	}
	if accepted["ServiceMonitor"] != monitors || accepted["PrometheusRule"] < 25 {
		t.Errorf("accepted: %v of %d monitors", accepted, monitors)
	}
	if text, err := c.Kubectl(t.Context(), "-n", "kube-system", "get", "service", "kps-kube-prometheus-stack-kubelet"); err != nil {
		t.Errorf("no Service of the kubelets: %v\n%s", err, text)
	}
	stop()
}

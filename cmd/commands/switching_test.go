package commands

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// kubePrometheus writes the public manifests of kube-prometheus, and the kustomization of docs/switching.md, to a
// folder and returns it.
func kubePrometheus(t *testing.T) string {
	t.Helper()
	from := filepath.Join(os.Getenv("FIREKEEPER_SHARED"), "real", "kube-prometheus")
	if os.Getenv("FIREKEEPER_SHARED") == "" {
		from = "../../../shared/real/kube-prometheus"
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the kube-prometheus manifests are not at %s (set FIREKEEPER_SHARED)", from)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, dir := examples(t, "../../docs/switching.md")
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	list := "resources:\n"
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "manifests", entry.Name()), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		list += "- " + entry.Name() + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "manifests", "kustomization.yaml"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSwitchKubePrometheus follows docs/switching.md: only the operator changes, an API server accepts the result,
// and the operator reconciles the Prometheus and the Alertmanager with the flags and permissions of kube-prometheus.
func TestSwitchKubePrometheus(t *testing.T) {
	dir := kubePrometheus(t)
	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	built := func(folder string) ([]byte, map[string]map[string]any) {
		out, err := c.Kubectl(t.Context(), "kustomize", folder)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]map[string]any{}
		for _, doc := range strings.Split(string(out), "\n---\n") {
			for id, object := range objects(t, doc) {
				namespace, _ := object["metadata"].(map[string]any)["namespace"].(string)
				all[namespace+" "+id] = object
			}
		}
		return out, all
	}
	plain, before := built(filepath.Join(dir, "manifests"))
	switched, after := built(dir)
	var changed []string
	for id, object := range after {
		if !cmp.Equal(before[id], object) {
			changed = append(changed, id)
		}
	}
	slices.Sort(changed)
	if diff := cmp.Diff([]string{" ClusterRole prometheus-operator", "monitoring Deployment prometheus-operator"}, changed); diff != "" || len(before) != len(after) {
		t.Errorf("of %d objects, these change:\n%s", len(before), diff)
	}
	container := after["monitoring Deployment prometheus-operator"]["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	if container["image"] != "registry.example/firekeeper/operator:v0.1.0" {
		t.Errorf("the image is %v", container["image"])
	}
	var flags []string
	for _, flag := range container["args"].([]any) {
		flags = append(flags, flag.(string))
	}
	t.Cleanup(func() {
		if out, err := c.Kubectl(context.Background(), "delete", "namespace", "monitoring", "--wait=false"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	for _, tc := range []struct {
		name, change string
		manifests    []byte
	}{
		{"with the patched ClusterRole", "17s", switched},
		{"with the ClusterRole of the stack", "19s", plain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if out, err := c.KubectlInput(t.Context(), tc.manifests, "apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", "-"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, change := range []string{"prometheus/k8s", "alertmanager/main"} {
				patch := map[string]string{"prometheus/k8s": `{"spec":{"scrapeInterval":"` + tc.change + `"}}`, "alertmanager/main": `{"spec":{"retention":"` + tc.change + `"}}`}[change]
				if out, err := c.Kubectl(t.Context(), "-n", "monitoring", "patch", change, "--type=merge", "-p", patch); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			runs(t, c, flags)
		})
	}
}

// runs runs the operator with the ServiceAccount of kube-prometheus until the workloads are reconciled.
func runs(t *testing.T, c *cluster.Cluster, flags []string) {
	stop := background(t, append(slices.Clone(flags), "--kubeconfig="+c.Kubeconfig,
		"--as=system:serviceaccount:monitoring:prometheus-operator", "--web.listen-address=127.0.0.1:0")...)
	for _, object := range []string{"prometheus/monitoring/k8s", "alertmanager/monitoring/main"} {
		var out, errors bytes.Buffer
		if got := Operator(t.Context(), []string{"verify", "--kubeconfig=" + c.Kubeconfig, "--reconciled=" + object, "--timeout=90s"}, &out, &errors); got != 0 {
			t.Errorf("verify: exit code %d\n%s%s", got, &out, &errors)
		}
	}
	stop()
}

// The operator accepts the flags that the chart kube-prometheus-stack passes with the values of docs/switching.md.
func TestSwitchStack(t *testing.T) {
	var o Options
	app := kingpin.New("operator", "")
	o.Bind(app)
	flags := []string{
		"--kubelet-service=kube-system/stack-kubelet", "--kubelet-endpoints=true", "--kubelet-endpointslice=false",
		"--localhost=127.0.0.1", "--prometheus-config-reloader=quay.io/prometheus-operator/prometheus-config-reloader:v0.93.1",
		"--config-reloader-cpu-request=0", "--config-reloader-cpu-limit=0", "--config-reloader-memory-request=0", "--config-reloader-memory-limit=0",
		"--thanos-default-base-image=quay.io/thanos/thanos:v0.42.1", "--prometheus-default-base-image=quay.io/prometheus/prometheus",
		"--alertmanager-default-base-image=quay.io/prometheus/alertmanager",
		"--secret-field-selector=type!=kubernetes.io/dockercfg,type!=kubernetes.io/service-account-token,type!=helm.sh/release.v1",
		"--web.enable-tls=true", "--web.cert-file=/cert/cert", "--web.key-file=/cert/key", "--web.listen-address=:10250", "--web.tls-min-version=VersionTLS13",
		"--log-level=info", "--log-format=logfmt", "--reloader-layout=single",
	}
	if _, err := app.Parse(arguments(app, flags)); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

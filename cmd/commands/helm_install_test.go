package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// The chart installs the version in the repository, and its Job has the permissions to apply the existing
// CRDs.
func TestChartVersion(t *testing.T) {
	c, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	version, err := os.ReadFile("../../.version")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(string(version)); c.Metadata.Version != want || c.Metadata.AppVersion != want {
		t.Errorf("version %s, appVersion %s, want %s", c.Metadata.Version, c.Metadata.AppVersion, want)
	}
	files, err := filepath.Glob("../../deploy/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	crds := rendered(t, c, "{}")["crds.yaml"]
	for _, file := range files {
		group, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		if !strings.Contains(crds, "  - "+name+"."+group+"\n") {
			t.Errorf("the Job may not apply %s", name)
		}
	}
}

// Helm resolves the kinds of all objects except hooks before it installs anything, so on a cluster without
// our CRDs none of them may be of these kinds.
func TestChartOnANewCluster(t *testing.T) {
	loaded, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	const all = "{monitoring: {serviceMonitor: true, rules: true, labels: {release: x}}}"
	type object struct {
		APIVersion string `json:"apiVersion"`
		Kind       string
		Metadata   struct {
			Name, Namespace     string
			Labels, Annotations map[string]string
		}
	}
	parsed := func(on *chartutil.Capabilities) (out map[string][]object) {
		out = map[string][]object{}
		for name, text := range renderedOn(t, loaded, all, on) {
			if name != "monitoring.yaml" {
				continue
			}
			for _, document := range strings.Split(text, "\n---\n") {
				var o object
				if err := yaml.Unmarshal([]byte(document), &o); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if strings.HasPrefix(o.APIVersion, "monitoring.coreos.com/") {
					hook := o.Metadata.Annotations["helm.sh/hook"]
					out[hook] = append(out[hook], o)
				}
			}
		}
		return out
	}
	if got := parsed(installed()); len(got[""]) != 3 || len(got) != 1 {
		t.Errorf("with definitions: %+v", got)
	}
	got := parsed(chartutil.DefaultCapabilities)
	if len(got[""]) > 0 || len(got["post-install,post-upgrade"]) != 3 || len(got["pre-delete"]) != 3 {
		t.Errorf("without definitions: %+v", got)
	}
	for _, o := range got["post-install,post-upgrade"] { // as required for adoption by Helm at the next upgrade
		a := o.Metadata.Annotations
		if o.Metadata.Labels["app.kubernetes.io/managed-by"] != "Helm" || a["meta.helm.sh/release-name"] != "firekeeper" || a["meta.helm.sh/release-namespace"] != "firekeeper" || o.Metadata.Labels["release"] != "x" {
			t.Errorf("%s cannot be adopted: %+v", o.Kind, o.Metadata)
		}
		if a["helm.sh/hook-delete-policy"] != "before-hook-creation" {
			t.Errorf("%s is deleted at once", o.Kind)
		}
	}
}

// An API server accepts everything that the chart can create, and so does our lint.
func TestChartIsInstalled(t *testing.T) {
	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	for _, tc := range []struct{ name, values string }{
		{"chart-default", "{}"},
		{"chart-narrow", "namespaces: [chart-narrow]"},
		{"chart-all", everything}, // last, because its webhook has no server
	} {
		texts := released(t, tc.values)
		hooks := texts["tests.yaml"]
		delete(texts, "tests.yaml")
		for i, text := range []string{manifestsOf(texts), hooks} {
			text = strings.ReplaceAll(text, "namespace: firekeeper\n", "namespace: "+tc.name+"\n")
			if i == 1 && tc.name == "chart-all" {
				continue // contains a rule, which is rejected because the webhook has no server
			}
			file := filepath.Join(t.TempDir(), "chart.yaml")
			if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+tc.name+"}\n---\n"+text), 0o600); err != nil {
				t.Fatal(err)
			}
			want := "0 errors, 0 warnings, 0 notes in "
			if i == 1 {
				want = "0 errors, 0 warnings, 1 note in " // spec.replicas: is 0
			}
			if out := command(t, 0, "lint", "-f", file); !strings.Contains(out, want) {
				t.Errorf("%s:\n%s", tc.name, out)
			}
			if out, err := c.Kubectl(t.Context(), "apply", "--validate=strict", "-f", file); err != nil {
				t.Errorf("%s: %v\n%s", tc.name, err, out)
			}
		}
		for _, args := range [][]string{
			{"namespace", tc.name, "--wait=false"},
			{"validatingwebhookconfigurations,mutatingwebhookconfigurations", "-l", "app.kubernetes.io/instance=firekeeper"},
		} {
			if out, err := c.Kubectl(t.Context(), append([]string{"delete"}, args...)...); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	}
}

// The webhooks check the namespaces that the operator watches: a release for some of them must not reject objects of
// others.
func TestChartWebhookNamespaces(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                    "<nil>",
		"{namespaces: [a, b]}":  "map[matchExpressions:[map[key:kubernetes.io/metadata.name operator:In values:[a b]]]]",
		"{denyNamespaces: [c]}": "map[matchExpressions:[map[key:kubernetes.io/metadata.name operator:NotIn values:[c]]]]",
		"{namespaces: [a], webhook: {namespaceSelector: {matchLabels: {team: a}}}}": "map[matchLabels:map[team:a]]",
	} {
		c, err := loader.LoadDir(chartFolder)
		if err != nil {
			t.Fatal(err)
		}
		c.Values["webhook"].(map[string]any)["enabled"] = true
		c.Values["webhook"].(map[string]any)["validateAll"] = true
		all := objects(t, rendered(t, c, values)["webhook-configurations.yaml"])
		if len(all) != 4 {
			t.Fatalf("%d configurations", len(all))
		}
		for _, object := range all {
			for _, webhook := range object["webhooks"].([]any) {
				if got := fmt.Sprint(webhook.(map[string]any)["namespaceSelector"]); got != want {
					t.Errorf("%s: %s, want %s", values, got, want)
				}
			}
		}
	}
}

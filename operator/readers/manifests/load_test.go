package manifests

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// named returns the names of objects as "namespace/name".
func named(objects []catalog.Object) (out []string) {
	for _, o := range objects {
		out = append(out, o.GetNamespace()+"/"+o.GetName())
	}
	slices.Sort(out)
	return out
}

const monitor = `
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: NAME, namespace: team}
spec: {selector: {}}
`

func pod(name string) string { return strings.Replace(monitor, "NAME", name, 1) }

// aliased returns an object with n aliases that expand to 50 KB each.
func aliased(n int) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: [&a " + strings.Repeat("hunter2", 7000) + strings.Repeat(", *a", n) + "]\n"
}

func TestLoad(t *testing.T) {
	json := `{"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": {"name": "json"}, "spec": {"selector": {}}}`
	dir := folder(t, map[string]string{
		"several.yaml": "# a comment first\n---\n" + pod("one") + "---\n---\n" + pod("two") + "\n---\n",
		"sub/a.yml":    pod("sub"),
		"sub/b.json":   json,
		"list.yaml": "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(pod("listed")), "\n", "\n  ") +
			"\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: team}, data: {a: b}}\n",
		"typed.yaml":     "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitorList\nmetadata: {}\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(pod("typed")), "\n", "\n  "),
		"bare.yaml":      "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitorList\nmetadata: {}\nitems: [{metadata: {name: bare, namespace: team}, spec: {selector: {}}}]\n",
		"other.yaml":     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x, labels: {number: 1}}\nspec: {anything: goes}\n",
		"elsewhere.yaml": "apiVersion: other.example/v1\nkind: PodMonitor\nmetadata: {name: not-ours}\n",
		"secret.yaml":    "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: team}\nstringData: {password: x}\n",
		"ns.yaml":        "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {tier: gold}}\n",
		"README.md":      "not: [a manifest",
		"..data/c.yaml":  pod("two"), // as in a mounted ConfigMap
	})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"a folder": dir, "a link to a folder": link, "with a slash": dir + "/"} {
		t.Run(name, func(t *testing.T) {
			o, err := Load([]string{path}, kinds())
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"default/json", "team/bare", "team/listed", "team/one", "team/sub", "team/two", "team/typed"}
			if diff := cmp.Diff(want, named(o.All(catalog.PodMonitor))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]int{"Deployment": 1, "PodMonitor": 1}, o.Ignored); diff != "" {
				t.Error(diff)
			}
			for _, ref := range []assets.Ref{{Kind: assets.Secret, Namespace: "team", Name: "login"}, {Kind: assets.ConfigMap, Namespace: "team", Name: "settings"}} {
				if _, err := o.References.Object(ref); err != nil {
					t.Error(err)
				}
			}
			if set, ok := o.NamespaceLabels("team"); !ok || set["tier"] != "gold" || set["kubernetes.io/metadata.name"] != "team" {
				t.Errorf("labels of team: %v", set)
			}
			if set, ok := o.NamespaceLabels("default"); !ok || set["kubernetes.io/metadata.name"] != "default" {
				t.Errorf("labels of default: %v", set)
			}
		})
	}
}

func TestLoadBadInput(t *testing.T) {
	const prometheus = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p}\n"
	for name, tc := range map[string]struct {
		files map[string]string
		paths []string // below the folder; the folder itself when empty
		want  string
	}{
		"no such file":               {nil, []string{"gone.yaml"}, "gone.yaml: no such file or directory"},
		"an empty folder":            {nil, nil, ": contains no .yaml, .yml or .json file"},
		"a folder of other files":    {map[string]string{"a.txt": "x"}, nil, ": contains no .yaml, .yml or .json file"},
		"broken YAML":                {map[string]string{"a.yaml": pod("ok") + "---\nkind: [x\n"}, nil, "a.yaml: document 2: "},
		"a tab":                      {map[string]string{"a.yaml": "kind: x\n\tname: y\n"}, nil, "a.yaml: document 1: yaml: line 2: "},
		"broken JSON":                {map[string]string{"a.json": `{"kind": "Prometheus"`}, nil, "a.json: document 1: "},
		"a list at the top":          {map[string]string{"a.yaml": "- kind: Prometheus\n"}, []string{"a.yaml"}, "not a manifest: it is a list, not an object"},
		"a text":                     {map[string]string{"a.yaml": "hello\n"}, []string{"a.yaml"}, "not a manifest: it is a string, not an object"},
		"a name that is a boolean":   {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: on}\n"}, nil, "metadata.name: want a string, is true or false"},
		"a name that is a number":    {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: 12}\n"}, nil, "metadata.name: want a string, is a number"},
		"metadata that is a list":    {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: [a]\n"}, nil, "metadata: want an object, is a list"},
		"no kind":                    {map[string]string{"a.yaml": "apiVersion: v1\nmetadata: {name: x}\n"}, []string{"a.yaml"}, "kind is missing"},
		"a file of Prometheus":       {map[string]string{"a.yaml": "global: {scrape_interval: 15s}\nscrape_configs: []\n"}, []string{"a.yaml"}, "kind is missing; this is a configuration of Prometheus, which the operator writes"},
		"a file of Alertmanager":     {map[string]string{"a.yaml": "route: {receiver: a}\nreceivers: [{name: a}]\n"}, []string{"a.yaml"}, "kind is missing; this is a configuration of Alertmanager: put it into the Secret of spec.configSecret"},
		"a rule file":                {map[string]string{"a.yaml": "# Rules.\ngroups: [{name: a, rules: []}]\n"}, []string{"a.yaml"}, "kind is missing; this is a rule file of Prometheus, of which operator convert makes a PrometheusRule"},
		"values of a chart":          {map[string]string{"a.yaml": "prometheus: {prometheusSpec: {}}\n"}, []string{"a.yaml"}, "helm template … -f values.yaml"},
		"binary":                     {map[string]string{"a.yaml": "\x00\x01\x02"}, []string{"a.yaml"}, "a.yaml: document 1: "},
		"a key twice":                {map[string]string{"a.yaml": prometheus + "spec: {replicas: 1, replicas: 2}\n"}, nil, `line 4: "replicas" is there twice`},
		"a separator with more":      {map[string]string{"a.yaml": pod("x") + "----\n" + pod("y")}, nil, "a.yaml: line 6: two manifests are separated by --- with nothing else in the line"},
		"no name":                    {map[string]string{"a.yaml": "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {namespace: x}\n"}, nil, "Prometheus: metadata.name: is missing"},
		"no metadata":                {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\n"}, nil, "Secret: metadata.name: is missing"},
		"an unknown field":           {map[string]string{"a.yaml": prometheus + "spec: {replica: 1}\n"}, nil, `Prometheus default/p: spec.replica: unknown field`},
		"another case":               {map[string]string{"a.yaml": prometheus + "spec: {Replicas: 1}\n"}, nil, `unknown field, did you mean "replicas"?`},
		"a wrong type":               {map[string]string{"a.yaml": prometheus + "spec: {replicas: many}\n"}, nil, "Prometheus default/p: spec.replicas: want "},
		"a number as a label":        {map[string]string{"a.yaml": strings.Replace(pod("x"), "namespace: team", "namespace: team, labels: {a: 1}", 1)}, nil, "metadata.labels.a: want a string"},
		"a fault in a List":          {map[string]string{"a.yaml": "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: fine}}\n- {a: b}\n"}, nil, "items[1]: not a manifest: kind is missing"},
		"the same object twice":      {map[string]string{"a.yaml": pod("x"), "b.yaml": pod("x")}, nil, "PodMonitor team/x: duplicate object, first in "},
		"a namespace left out twice": {map[string]string{"a.yaml": prometheus + "spec: {}\n---\n" + strings.Replace(prometheus, "name: p", "name: p, namespace: default", 1)}, nil, "document 2: Prometheus default/p: duplicate object"},
		"aliases of a long text":     {map[string]string{"a.yaml": pod("ok") + "---\n" + aliased(2000)}, nil, "document 2: yaml: line 4: the aliases up to here stand for more than 4 MiB"},
		"aliases in many documents":  {map[string]string{"a.yaml": strings.Repeat(aliased(20)+"---\n", 20)}, nil, "document 5: yaml: line 4: the aliases up to here stand for more than 4 MiB"},
		"a Secret that is no base64": {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: 'hunter2!'}\n"}, nil, "Secret default/s: "},
		"a Secret with a number":     {map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: 12345678}\n"}, nil, "stringData.password: want a string"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, tc.files)
			paths := []string{dir}
			if tc.paths != nil {
				paths = nil
				for _, p := range tc.paths {
					paths = append(paths, filepath.Join(dir, p))
				}
			}
			_, err := Load(paths, kinds())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("err = %v, want %q", err, tc.want)
			}
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("no path in %q", err)
			}
			for _, hidden := range []string{"hunter2", "12345678"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("a secret value in %q", err)
				}
			}
		})
	}
}

// The result does not depend on the order of files and documents.
func TestLoadInAnyOrder(t *testing.T) {
	files := map[string]string{"a.yaml": pod("one"), "b.yaml": pod("two"), "c.yaml": pod("three")}
	var paths []string
	dir := folder(t, files)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		paths = append(paths, filepath.Join(dir, name))
	}
	slices.Reverse(paths)
	apart, err := Load(paths, kinds())
	if err != nil {
		t.Fatal(err)
	}
	together, err := Load([]string{folder(t, map[string]string{"all.yaml": pod("two") + "---" + pod("one") + "---" + pod("three")})}, kinds())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(named(together.All(catalog.PodMonitor)), named(apart.All(catalog.PodMonitor))); diff != "" {
		t.Error(diff)
	}
}

// Reading stops after a maximum number of faults.
func TestReadManyFaults(t *testing.T) {
	for name, text := range map[string]string{
		"documents": strings.Repeat("a: b\n---\n", 5000),
		"items":     "kind: List\napiVersion: v1\nitems: [" + strings.Repeat("{}, ", 5000) + "{}]\n",
	} {
		if _, faults := Read("body", []byte(text), kinds()); len(faults) != mostFaults {
			t.Errorf("%s: %d faults", name, len(faults))
		}
	}
}

// Reading a valid monitor has a bounded number of allocations: it is converted once, checked without the validators
// of the CRD library, and decoded once.
func TestAllocationsOfMonitor(t *testing.T) {
	const n = 200
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: m%d, namespace: demo, labels: {app: a}}
spec:
  selector: {matchLabels: {app: a}}
  endpoints:
  - port: web
    interval: 30s
    relabelings:
    - sourceLabels: [a, b]
      targetLabel: c
      regex: (.+)
`, i)
	}
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	each := testing.AllocsPerRun(3, func() {
		if o, err := Load([]string{file}, kinds()); err != nil || o.Len() != n {
			t.Fatal(o.Len(), err)
		}
	}) / n
	t.Logf("%.0f allocations for each monitor", each)
	if each > 450 {
		t.Errorf("%.0f allocations for each monitor", each)
	}
}

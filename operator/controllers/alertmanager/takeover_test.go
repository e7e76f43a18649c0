package alertmanager

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// deviation is an intended difference from the reference. Everything else must be equal.
type deviation struct {
	Path      string `json:"path"`
	Reference any    `json:"reference,omitempty"`
	Ours      any    `json:"ours,omitempty"`
	// Row is the beginning of the row of docs/differences.md that documents the
	// difference.
	Row string `json:"row"`
}

// takeover is one file of testdata/takeover. The output of the reference in it was
// written by hand from its behavior, and is never changed by -update.
type takeover struct {
	golden.Case
	am  v1.Alertmanager
	cfg workload.Config
}

// eachTakeover runs a test for each file that matches the pattern.
func eachTakeover(t *testing.T, pattern string, test func(*testing.T, takeover)) {
	t.Helper()
	files, err := filepath.Glob("testdata/takeover/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c, err := golden.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			o := takeover{Case: c, cfg: testConfig()}
			o.cfg.Layout = workload.LayoutSingle
			o.cfg.ConfigReloaderImage = "quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0"
			o.read(t, "in.yaml", &o.am)
			o.read(t, "flags.yaml", &o.cfg)
			o.am.Namespace, o.am.Name, o.am.UID = "demo", "main", "am-main"
			test(t, o)
		})
	}
}

// read parses a file if it exists.
func (o takeover) read(t *testing.T, name string, into any) {
	t.Helper()
	text, _ := o.Input(name)
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// cluster returns a cluster with the Secrets and AlertmanagerConfigs of the file, in the
// order of the store.
func (o takeover) cluster(t *testing.T) *fakeCluster {
	t.Helper()
	w := newConfiguredCluster(t, o.cfg)
	var secrets map[string]map[string]string
	o.read(t, "secrets.yaml", &secrets)
	for name, data := range secrets {
		w.secrets[name] = map[string][]byte{}
		for key, value := range data {
			w.secrets[name][key] = []byte(value)
		}
	}
	o.read(t, "configs.yaml", &w.configs)
	slices.SortFunc(w.configs, func(a, b *v1alpha1.AlertmanagerConfig) int { return informer.CompareKeys(a, b) })
	return w
}

// compare fails unless the differences are exactly those listed in the file.
func (o takeover) compare(t *testing.T, reference, ours any) {
	t.Helper()
	var want []deviation
	o.read(t, "deviations.yaml", &want)
	pages, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range want {
		if !bytes.Contains(pages, []byte("\n| "+d.Row)) || d.Row == "" {
			t.Errorf("deviations[%d]: docs/differences.md has no row that begins with %q", i, d.Row)
		}
		want[i].Row = ""
	}
	if diff := cmp.Diff(want, deviations("", tree(t, reference), tree(t, ours))); diff != "" {
		t.Errorf("deviations from the reference (-intended +found):\n%s", diff)
	}
}

// tree converts a value to its generic JSON form.
func tree(t *testing.T, v any) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(asJSON(t, v), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// deviations returns the leaves in which two trees differ. List elements are compared by
// index. If the lengths differ, equal elements at the end are skipped.
func deviations(path string, reference, ours any) (out []deviation) {
	if reflect.DeepEqual(reference, ours) {
		return nil
	}
	switch r := reference.(type) {
	case map[string]any:
		if o, ok := ours.(map[string]any); ok {
			keys := maps.Clone(r)
			maps.Copy(keys, o)
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				out = append(out, deviations(path+"."+key, r[key], o[key])...)
			}
			return out
		}
	case []any:
		if o, ok := ours.([]any); ok {
			for len(r) > 0 && len(o) > 0 && len(r) != len(o) && reflect.DeepEqual(r[len(r)-1], o[len(o)-1]) {
				r, o = r[:len(r)-1], o[:len(o)-1]
			}
			for i := range max(len(r), len(o)) {
				out = append(out, deviations(fmt.Sprintf("%s[%d]", path, i), element(r, i), element(o, i))...)
			}
			return out
		}
	}
	return []deviation{{Path: strings.TrimPrefix(path, "."), Reference: reference, Ours: ours}}
}

// element returns the i-th element, or nil beyond the end.
func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// With --reloader-layout=single and the reference's image, the StatefulSet is the same as
// that of the reference, so no pod restarts.
func TestTakeoverOfPods(t *testing.T) {
	eachTakeover(t, "pods_*.txtar", func(t *testing.T, o takeover) {
		var reference appsv1.StatefulSet
		o.read(t, "reference.yaml", &reference)
		_, plan, err := o.cluster(t).plan(&o.am)
		if err != nil {
			t.Fatal(err)
		}
		ours := plan.Workload[len(plan.Workload)-1].Object.(*appsv1.StatefulSet)
		delete(ours.Annotations, wellknown.AnnotationInputHash) // the algorithms differ
		o.compare(t, reference, ours)
	})
}

// The reference's reloader reads the configuration that the reference would have written,
// and the user's other keys are beside it.
func TestTakeoverOfConfiguration(t *testing.T) {
	eachTakeover(t, "config_*.txtar", func(t *testing.T, o takeover) {
		in, plan, err := o.cluster(t).plan(&o.am)
		if err != nil {
			t.Fatal(err)
		}
		for v := range in.Results() {
			if v.Err != nil {
				t.Errorf("%s: %v", v.Object.GetName(), v.Err)
			}
		}
		var reference, ours any
		o.read(t, "reference.yaml", &reference)
		text, keys := readAsReference(t, plan.Content[1].Object.(*corev1.Secret))
		if err := yaml.UnmarshalStrict(text, &ours); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		o.compare(t, reference, ours)
		spec := o.am.Spec
		if exact, _ := o.Input("reference.yaml"); spec.AlertmanagerConfiguration == nil && spec.AlertmanagerConfigSelector == nil && !bytes.Equal(bytes.TrimSuffix(exact, []byte("\n")), text) {
			t.Errorf("not as it is: %q", text)
		}
		wanted, _ := o.Input("reference.keys")
		if diff := cmp.Diff(strings.Fields(string(wanted)), keys); diff != "" {
			t.Error(diff)
		}
	})
}

// readAsReference returns the configuration that the reference's reloader reads from the
// Secret, and the keys of the Secret.
func readAsReference(t *testing.T, s *corev1.Secret) ([]byte, []string) {
	t.Helper()
	if s.Name != "alertmanager-main-generated" {
		t.Fatal(s.Name)
	}
	r, err := gzip.NewReader(bytes.NewReader(s.Data["alertmanager.yaml.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text, slices.Sorted(maps.Keys(s.Data))
}

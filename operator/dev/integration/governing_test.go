package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestGoverningServices: the whole Service of each kind in the API server, new and after the operator took one over
// whose fields are others. "KIND.yaml" in a golden file is the workload, "KIND.before.yaml" the Service that exists.
func TestGoverningServices(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "governing"
	w.operator(t, id, "", "--controller-id="+id)
	golden.Run(t, "testdata/governing.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		kind, how, _ := strings.Cut(name, "/")
		ns := w.namespace(t)
		in := func(file string) string {
			text, ok := c.Input(file)
			if !ok {
				t.Fatalf("no %s", file)
			}
			return fill(string(text), ns, id)
		}
		text := in(kind + ".yaml")
		workload := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &workload.Object); err != nil {
			return nil, err
		}
		before := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(in(kind+".before.yaml")), &before.Object); err != nil {
			return nil, err
		}
		if how == "taken over" {
			w.create(t, in(kind+".before.yaml"))
		}
		w.apply(t, text)
		w.reports(t, workload, "True")
		s, err := w.get(t, "v1", "Service", ns, before.GetName())
		if err != nil {
			return nil, err
		}
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			unstructured.RemoveNestedField(s.Object, "metadata", field)
		}
		owner, err := w.get(t, workload.GetAPIVersion(), workload.GetKind(), ns, workload.GetName())
		if err != nil {
			return nil, err
		}
		out, err := yaml.Marshal(s.Object)
		masked := strings.ReplaceAll(strings.ReplaceAll(string(out), string(owner.GetUID()), "UID"), ns, "NAMESPACE")
		return []byte(masked), err
	})
}

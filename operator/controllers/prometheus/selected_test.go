package prometheus

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

// Each of the ten selector fields of a Prometheus selects only objects of its kind.
func TestEachSelectorIsForItsKind(t *testing.T) {
	servers, _ := Kinds(Options{}, &rules.Cache{})
	for _, k := range servers.Selects {
		t.Run(k.Field, func(t *testing.T) {
			p := &v1.Prometheus{}
			p.Namespace = "own"
			spec := fmt.Sprintf(`{%[1]sSelector: {matchLabels: {a: b}}, %[1]sNamespaceSelector: {matchLabels: {c: d}}}`, k.Field)
			if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
				t.Fatal(err)
			}
			found, err := servers.Selectors(p)
			if err != nil {
				t.Fatal(err)
			}
			for kind, rule := range found {
				if rule.Empty() != (kind != k.Kind) {
					t.Errorf("%s is selected: %v", kind, !rule.Empty())
				}
			}
			rule := found[k.Kind]
			if !rule.Labels(labels.Set{"a": "b"}) || rule.Labels(labels.Set{"a": "c"}) {
				t.Error("other labels are selected")
			}
			if !rule.Namespace("x", labels.Set{"c": "d"}) || rule.Namespace("x", nil) || rule.Namespace("own", nil) {
				t.Error("other namespaces are selected")
			}
		})
	}
}

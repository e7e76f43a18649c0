package prometheus

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

func TestSelected(t *testing.T) {
	monitor := func(ns, name string, l labels.Set) *v1.ServiceMonitor {
		return &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: l}}
	}
	going := monitor("own", "going", nil)
	going.DeletionTimestamp = &metav1.Time{}
	all := []*v1.ServiceMonitor{
		monitor("foo", "x", nil), monitor("foo-bar", "x", nil), monitor("own", "b", labels.Set{"app": "web"}),
		monitor("own", "a", nil), monitor("unknown", "x", nil), going,
	}
	namespaces := func(name string) (labels.Set, bool) {
		return labels.Set{"kubernetes.io/metadata.name": name}, name != "unknown"
	}
	everything := &metav1.LabelSelector{}
	for name, tc := range map[string]struct {
		namespaces, objects *metav1.LabelSelector
		want                []string
	}{
		"no selector":                       {everything, nil, nil},
		"own namespace, deleted ones apart": {nil, everything, []string{"own/a", "own/b"}},
		"by label":                          {nil, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, []string{"own/b"}},
		"all known namespaces in byte order of namespace/name": {everything, everything, []string{"foo-bar/x", "foo/x", "own/a", "own/b"}},
		"namespaces by label": {&metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "foo"}}, everything, []string{"foo/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			rule, err := selection.Parse("own", "serviceMonitor", tc.namespaces, tc.objects)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range selected(rule, slices.Values(all), namespaces) {
				got = append(got, m.Namespace+"/"+m.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The ten selector fields of a Prometheus, each by itself.
func TestEachSelectorIsForItsKind(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.field, func(t *testing.T) {
			p := &v1.Prometheus{}
			p.Namespace = "own"
			spec := fmt.Sprintf(`{%[1]sSelector: {matchLabels: {a: b}}, %[1]sNamespaceSelector: {matchLabels: {c: d}}}`, k.field)
			if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
				t.Fatal(err)
			}
			rules, err := selectionRules(ForServer(p))
			if err != nil {
				t.Fatal(err)
			}
			for kind, rule := range rules {
				if rule.Empty() != (kind != k.kind) {
					t.Errorf("%s is selected: %v", kind, !rule.Empty())
				}
			}
			rule := rules[k.kind]
			if !rule.Labels(labels.Set{"a": "b"}) || rule.Labels(labels.Set{"a": "c"}) {
				t.Error("other labels are selected")
			}
			if !rule.Namespace("x", labels.Set{"c": "d"}) || rule.Namespace("x", nil) || rule.Namespace("own", nil) {
				t.Error("other namespaces are selected")
			}
		})
	}
}

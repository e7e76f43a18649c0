package engine

import (
	"iter"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
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
	objects := func(kind string) iter.Seq[catalog.Object] {
		return func(yield func(catalog.Object) bool) {
			for _, m := range all {
				if kind == v1.ServiceMonitorKind && !yield(m) {
					return
				}
			}
		}
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
			for _, m := range Selected[*v1.ServiceMonitor](Cluster{NamespaceLabels: namespaces, Objects: objects}, selection.Rules{v1.ServiceMonitorKind: rule}, catalog.ServiceMonitor) {
				got = append(got, m.Namespace+"/"+m.Name)
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			list := make([]catalog.Object, len(all))
			for i, m := range slices.SortedFunc(slices.Values(all), func(a, b *v1.ServiceMonitor) int { return informer.CompareKeys(a, b) }) {
				list[i] = m
			}
			got = nil
			for _, at := range positionsOf(rule, list, func(yield func(string, labels.Set) bool) {
				for _, ns := range []string{"foo", "foo-bar", "own"} {
					if l, _ := namespaces(ns); !yield(ns, l) {
						return
					}
				}
			}) {
				got = append(got, list[at].GetNamespace()+"/"+list[at].GetName())
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" && tc.objects != nil {
				t.Errorf("by namespace: %s", diff)
			}
		})
	}
}

package insight

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// Objects are compared with each different selector once, not with each workload.
func TestManyWorkloadsSelectNothing(t *testing.T) {
	const workloads, objects = 100, 500
	lookups := 0
	w := &snapshot{
		objects: map[*catalog.Row][]catalog.Object{}, behind: map[*entry]bool{},
		namespaceLabels: func(string) (labels.Set, bool) { lookups++; return nil, true },
	}
	for i := range objects {
		w.objects[catalog.ServiceMonitor] = append(w.objects[catalog.ServiceMonitor],
			&v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("m%d", i), Labels: map[string]string{"number": fmt.Sprint(i)}}})
	}
	add := func(own string, namespaces, wanted *metav1.LabelSelector) *entry {
		rule, err := selection.Parse(own, "serviceMonitor", namespaces, wanted)
		if err != nil {
			t.Fatal(err)
		}
		e := &entry{rules: selection.Rules{catalog.ServiceMonitor.Kind: rule}}
		w.entries = append(w.entries, e)
		w.behind[e] = true
		return e
	}
	for i := range workloads {
		add("a", &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"number": "7"}})
		add(fmt.Sprintf("n%d", i), nil, &metav1.LabelSelector{}) // of its own namespace only
	}
	named := add("a", nil, nil)
	named.rules[catalog.ServiceMonitor.Kind] = named.rules[catalog.ServiceMonitor.Kind].Naming(types.NamespacedName{Namespace: "a", Name: "m9"})
	if found := w.findUnselected(); len(found) != objects-2 {
		t.Errorf("%d objects, want all but m7 and m9 of %d", len(found), objects)
	}
	if lookups > objects {
		t.Errorf("%d lookups of namespaces for %d objects", lookups, objects)
	}
	w.entries[0].statesUnknown = true
	if found := w.findUnselected(); len(found) > 0 {
		t.Errorf("%d objects, although a workload may select any", len(found))
	}
}

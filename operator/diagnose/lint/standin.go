package lint

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// selected returns the rows of the kinds that the workloads can select.
func selected(workloads []dryrun.Workload) []*catalog.Row {
	var kinds []*engine.Kind
	for _, w := range workloads {
		kinds = append(kinds, w.Kind)
	}
	return manifests.Selectable(kinds)
}

// standIn returns a Prometheus that selects all objects of the kinds that no workload can select;
// needed is false if the workloads can select all kinds that a Prometheus can.
func standIn(kinds []*engine.Kind, workloads []dryrun.Workload, version string) (w dryrun.Workload, needed bool) {
	i := slices.IndexFunc(kinds, func(k *engine.Kind) bool { return k.Row == catalog.Prometheus })
	if i < 0 {
		return w, false
	}
	others := selected(workloads)
	all := map[string]metav1.LabelSelector{}
	for _, s := range kinds[i].Selects {
		if !slices.Contains(others, s.Row) {
			all[s.Field+"Selector"], all[s.Field+"NamespaceSelector"] = metav1.LabelSelector{}, metav1.LabelSelector{}
		}
	}
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "lint"}}
	if text, err := json.Marshal(all); err == nil {
		_ = json.Unmarshal(text, &p.Spec) // a test checks that these are all selectors
	}
	p.Spec.Version = version
	return dryrun.Workload{Kind: kinds[i], Object: p}, len(all) > 0
}

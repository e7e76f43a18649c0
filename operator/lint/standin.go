package lint

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
)

// selected are the rows of what the workloads can select.
func selected(workloads []offline.Workload) []*catalog.Row {
	var kinds []*engine.Kind
	for _, w := range workloads {
		kinds = append(kinds, w.Kind)
	}
	return offline.Selectable(kinds)
}

// standIn is a Prometheus that selects all objects that none of the workloads can;
// needed is false when a Prometheus can select no others.
func standIn(kinds []*engine.Kind, workloads []offline.Workload, version string) (w offline.Workload, needed bool) {
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
		_ = json.Unmarshal(text, &p.Spec) // selectors of other names are not there: a test knows
	}
	p.Spec.Version = version
	return offline.Workload{Kind: kinds[i], Object: p}, len(all) > 0
}

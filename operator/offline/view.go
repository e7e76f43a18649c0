package offline

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/nearmiss"
)

// View is what a cluster with the manifests would hold for service discovery: their own
// objects, and the Services and pods that the operator makes.
func (o *Objects) View(made []Outcome) *nearmiss.View {
	var given, own []nearmiss.Object
	for _, object := range o.Native() {
		given = append(given, object)
	}
	there := map[string]bool{}
	for _, m := range made {
		for _, step := range m.Plan.Workload {
			where := place(apply.KindOf(step.Object), step.Object.GetNamespace(), step.Object.GetName())
			_, also := o.nativePlaces[where]
			if !also && !there[where] && (step.Verb == apply.Put || step.Verb == apply.PutIfNone) {
				there[where] = true // workloads share their Service
				own = append(own, step.Object)
			}
		}
	}
	var monitors []catalog.Object
	for _, row := range []*catalog.Row{catalog.ServiceMonitor, catalog.PodMonitor} {
		monitors = append(monitors, o.All(row)...)
	}
	return nearmiss.NewView(given, own, monitors)
}

// Uses are the objects that the workload accepts, and what their jobs look for. Those that
// become no jobs are left out.
func (o Outcome) Uses(w Workload) (out []nearmiss.Use) {
	for _, v := range o.Verdicts {
		if v.Err != nil || v.Text == nil || v.File != "" {
			continue
		}
		var text strings.Builder
		if _, err := v.Text.WriteTo(&text); err != nil {
			continue // whoever renders it says so
		}
		searches, err := nearmiss.Read(v.Object, text.String(), w.Object.GetNamespace())
		if err == nil {
			out = append(out, nearmiss.Use{Kind: v.Kind, Object: v.Object, Searches: searches})
		}
	}
	return out
}

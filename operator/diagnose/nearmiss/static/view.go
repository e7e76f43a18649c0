// Package static builds the view of package nearmiss from manifests and from the objects that the
// operator would generate for them. Package nearmiss/evidence does the same for a running cluster.
package static

import (
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// View returns what service discovery would find in a cluster with the manifests: their own
// objects, and the Services and pods that the operator generates.
func View(o *manifests.Objects, made []dryrun.Outcome) *nearmiss.View {
	var given, own []nearmiss.Object
	for _, object := range o.Native() {
		given = append(given, object)
	}
	there := map[catalog.Ref]bool{}
	for _, m := range made {
		for _, step := range m.Plan.Workload {
			id := catalog.RefOf(apply.KindOf(step.Object), step.Object)
			if !o.HasNative(id) && !there[id] && (step.Verb == apply.Put || step.Verb == apply.PutIfNone) {
				there[id] = true // workloads share their Service
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

// Look returns a function that looks up hints in the view of manifests. The view is created on first
// use.
func Look(o *manifests.Objects) nearmiss.Look {
	view := sync.OnceValue(func() *nearmiss.View {
		var made []dryrun.Outcome
		for _, w := range o.Workloads() {
			made = append(made, o.Reconcile(w))
		}
		return View(o, made)
	})
	return func(v1.Workload, []nearmiss.Use) (*nearmiss.View, []string) { return view(), nil }
}

// Uses returns the objects that the workload accepts with the searches of their jobs. It skips
// objects without jobs.
func Uses(w dryrun.Workload, o dryrun.Outcome) (out []nearmiss.Use) {
	for _, v := range o.Results {
		if v.Err != nil || v.Text == nil || v.File != "" {
			continue
		}
		text, own, err := v.Texts()
		if err != nil {
			continue // rendering reports it
		}
		searches, err := nearmiss.Read(v.Object, text, own, w.Object.GetNamespace())
		if err == nil {
			out = append(out, nearmiss.Use{Kind: v.Kind, Object: v.Object, Searches: searches})
		}
	}
	return out
}

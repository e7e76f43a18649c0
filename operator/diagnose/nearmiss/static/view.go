// Package static builds the view of package nearmiss from manifests and from the objects that the
// operator would generate for them. Package nearmiss/evidence does the same for a running cluster.
package static

import (
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
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

// mostRead is the maximum number of objects of which a [Reader] keeps the searches.
const mostRead = 20_000

// Reader reads the searches of jobs, once for all workloads of a namespace that compile an object to the same text. The
// zero value is ready to use. It is not safe for concurrent use.
type Reader struct {
	known map[compiled][]nearmiss.Search
	reads int
}

// compiled is an object with its text, compiled for a workload in a namespace.
type compiled struct {
	object    catalog.Object
	text      *document.Piece
	namespace string
}

// Uses returns the objects that the workload accepts with the searches of their jobs. It skips
// objects without jobs.
func (r *Reader) Uses(w dryrun.Workload, o dryrun.Outcome) (out []nearmiss.Use) {
	for _, v := range o.Results {
		if v.Err != nil || v.Text == nil || v.File != "" {
			continue
		}
		if searches, err := r.read(v, w.Object.GetNamespace()); err == nil { // otherwise rendering reports it
			out = append(out, nearmiss.Use{Kind: v.Kind, Object: v.Object, Searches: searches})
		}
	}
	return out
}

// read returns the searches of the jobs of an object.
func (r *Reader) read(v fragments.Result, namespace string) ([]nearmiss.Search, error) {
	piece, shared := v.Text.(*document.Piece)
	shared = shared && v.Own == nil
	key := compiled{v.Object, piece, namespace}
	if known, ok := r.known[key]; shared && ok {
		return known, nil
	}
	r.reads++
	text, own, err := v.Texts()
	if err != nil {
		return nil, err
	}
	searches, err := nearmiss.Read(v.Object, text, own, namespace)
	if shared && err == nil {
		if r.known == nil || len(r.known) >= mostRead {
			r.known = map[compiled][]nearmiss.Search{}
		}
		r.known[key] = searches
	}
	return searches, err
}

// Reads returns the number of texts that were read.
func (r *Reader) Reads() int { return r.reads }

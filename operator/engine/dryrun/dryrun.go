// Package dryrun reconciles workloads without writing anything. It runs the gather and decide steps
// of the operator, over a live cluster or over manifests.
//
//	outcome := dryrun.Run(dryrun.Workload{Kind: kind, Object: object}, cluster)
package dryrun

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Workload is an object that the operator runs, and its kind.
type Workload struct {
	Kind   *engine.Kind
	Object v1.Workload
}

// Ref returns the kind, namespace and name of the workload.
func (w Workload) Ref() catalog.Ref { return catalog.RefOf(w.Kind.Kind, w.Object) }

// Key returns the namespace and name of the workload.
func (w Workload) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.Object.GetNamespace(), Name: w.Object.GetName()}
}

// String returns a human-readable name: "Prometheus monitoring/k8s".
func (w Workload) String() string { return w.Ref().String() }

// Outcome is the result of a dry run.
type Outcome struct {
	// Results are about the objects that the workload selects, in configuration order. With Err,
	// they may be incomplete.
	Results []fragments.Result
	Plan    engine.Plan
	Err     error // an error in the workload itself; there is no plan
}

// Run reconciles a workload in a cluster. A panic becomes the error of the outcome.
func Run(w Workload, c engine.Cluster) Outcome {
	gatherer := w.Kind.Open(w.Key())
	defer gatherer.Close()
	return runWith(gatherer, w, c)
}

// runWith is like [Run] with a gatherer of the workload.
func runWith(gatherer engine.Gatherer, w Workload, c engine.Cluster) (out Outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			out.Plan, out.Err = engine.Plan{}, Panicked(fault)
		}
	}()
	in, err := gatherer.Gather(w.Kind.Copy(w.Object), c)
	var plan engine.Plan
	if err == nil {
		plan, err = in.Desired()
	}
	out.Results = slices.Collect(in.Results())
	if out.Err = err; err == nil {
		out.Plan = plan
	}
	return out
}

// Select returns the results about the objects that a workload selects in a cluster, in
// configuration order.
//
// Errors: the workload is invalid; an object could not be checked. There may be results along with
// an error.
func Select(w Workload, c engine.Cluster) ([]fragments.Result, error) {
	gatherer := w.Kind.Open(w.Key())
	defer gatherer.Close()
	return SelectWith(gatherer, w, c)
}

// SelectWith is like [Select] and reuses the results that a gatherer of the workload has compiled.
func SelectWith(g engine.Gatherer, w Workload, c engine.Cluster) ([]fragments.Result, error) {
	c.SelectionOnly = true
	in, err := g.Gather(w.Kind.Copy(w.Object), c)
	return slices.Collect(in.Results()), err
}

// Panicked returns the error for a panic of the operator while it processes an object.
func Panicked(fault any) error {
	return fmt.Errorf("the operator's code panicked on it: %v; please report it", fault)
}

package manifests

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Outcome is the result of reconciling a workload.
type Outcome struct {
	// Verdicts are about the objects that the workload selects, in configuration order. With Err,
	// they may be incomplete.
	Verdicts []compiled.Verdict
	// Dropped are fields of the workload itself that its version does not support.
	Dropped []string
	Plan    engine.Plan
	Err     error // an error in the workload itself; there is no plan
}

// Reconcile runs the gather and decide steps of the operator without writing anything.
func (o *Objects) Reconcile(w Workload) Outcome { return o.reconcile(w, o.Cluster(w)) }

// Bare returns the outcome as if the workload selected no objects. It is enough to determine the
// pods and avoids the cost of compiling the objects.
func (o *Objects) Bare(w Workload) Outcome {
	c := o.Cluster(w)
	all := c.Objects
	c.Objects = func(kind string) iter.Seq[catalog.Object] {
		if s := w.Kind.SelectsBy(kind); s.Named != nil && len(s.Named(w.Object)) > 0 {
			return all(kind) // some may be part of the workload's own configuration
		}
		return func(func(catalog.Object) bool) {}
	}
	return o.reconcile(w, c)
}

func (o *Objects) reconcile(w Workload, c engine.Cluster) Outcome {
	gatherer := w.Kind.Open(w.Key())
	defer gatherer.Close()
	in, err := gatherer.Gather(w.Kind.Copy(w.Object), c)
	out := Outcome{Err: err}
	var plan engine.Plan
	if err == nil {
		plan, err = in.Desired()
	}
	for v := range in.Verdicts() {
		out.Verdicts = append(out.Verdicts, o.AsWritten(v))
	}
	if err = cmp.Or(err, plan.Withheld); err != nil {
		out.Err = err
		return out
	}
	out.Plan = plan
	for _, text := range plan.Dropped {
		if kind, _, _ := strings.Cut(text, " "); catalog.Of(kind) == nil { // otherwise a verdict reports it
			out.Dropped = append(out.Dropped, text)
		}
	}
	return out
}

// Select returns the verdicts about the objects that a workload selects in a cluster, in
// configuration order.
//
// Errors: the workload is invalid; an object could not be judged. There may be verdicts along with
// an error.
func Select(w Workload, c engine.Cluster) ([]compiled.Verdict, error) {
	gatherer := w.Kind.Open(w.Key())
	defer gatherer.Close()
	c.SelectionOnly = true
	in, err := gatherer.Gather(w.Kind.Copy(w.Object), c)
	return slices.Collect(in.Verdicts()), err
}

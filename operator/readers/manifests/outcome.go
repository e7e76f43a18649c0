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

// Outcome is what the operator would make of a workload.
type Outcome struct {
	// Verdicts are about the objects that the workload selects, in the order of its
	// configuration; as far as they were read, with Err.
	Verdicts []compiled.Verdict
	// Dropped are fields of the workload itself that its version does not support.
	Dropped []string
	Plan    engine.Plan
	Err     error // of the workload itself: there is no plan
}

// Reconcile gathers and decides as the operator does, and writes nothing.
func (o *Objects) Reconcile(w Workload) Outcome { return o.reconcile(w, o.Cluster(w)) }

// Bare is what the operator would make of a workload if it selected no object: enough to
// know its pods, without what compiling the objects takes.
func (o *Objects) Bare(w Workload) Outcome {
	c := o.Cluster(w)
	all := c.Objects
	c.Objects = func(kind string) iter.Seq[catalog.Object] {
		if s := w.Kind.SelectsBy(kind); s.Named != nil && len(s.Named(w.Object)) > 0 {
			return all(kind) // some is part of the workload's own configuration
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
		if kind, _, _ := strings.Cut(text, " "); catalog.Of(kind) == nil { // else a verdict has it
			out.Dropped = append(out.Dropped, text)
		}
	}
	return out
}

// Select returns what becomes of the objects that a workload selects in a cluster, in the
// order of its configuration.
//
// Errors: the workload is wrong; an object could not be judged. There may be verdicts
// all the same.
func Select(w Workload, c engine.Cluster) ([]compiled.Verdict, error) {
	gatherer := w.Kind.Open(w.Key())
	defer gatherer.Close()
	c.SelectionOnly = true
	in, err := gatherer.Gather(w.Kind.Copy(w.Object), c)
	return slices.Collect(in.Verdicts()), err
}

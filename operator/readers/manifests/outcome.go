package manifests

import (
	"cmp"

	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// Reconcile runs the gather and decide steps of the operator without writing anything.
func (o *Objects) Reconcile(w dryrun.Workload) dryrun.Outcome { return o.reconcile(w, o.Cluster(w)) }

// Share makes reconciliations share the objects that they compile, until the returned function is called. The objects
// must not change meanwhile.
func (o *Objects) Share() (done func()) {
	if o.shared != nil {
		return func() {}
	}
	o.shared = &dryrun.Shared{}
	return func() {
		o.shared.Close()
		o.shared = nil
	}
}

// Bare returns the outcome as if the workload selected no objects. It is enough to determine the
// pods and avoids the cost of compiling the objects.
func (o *Objects) Bare(w dryrun.Workload) dryrun.Outcome {
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

func (o *Objects) reconcile(w dryrun.Workload, c engine.Cluster) dryrun.Outcome {
	run := dryrun.Run
	if o.shared != nil {
		run = o.shared.Run
	}
	out := run(w, c)
	for i, v := range out.Results {
		out.Results[i] = o.AsWritten(v)
	}
	if out.Err = cmp.Or(out.Err, out.Plan.Withheld); out.Err != nil {
		out.Plan = engine.Plan{}
	}
	return out
}

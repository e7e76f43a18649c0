package engine

import (
	"log/slog"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/budget"
)

// count counts the selected objects of each kind.
func (k *Kind) count(in Inputs) map[string]Selection {
	out := make(map[string]Selection, len(k.Selects))
	for _, s := range k.Selects {
		out[s.Kind] = Selection{}
	}
	for v := range in.Verdicts() {
		n := out[v.Kind]
		n.Selected++
		if v.Err != nil {
			n.Rejected++
		}
		out[v.Kind] = n
	}
	return out
}

// tell reports rejected objects, once for each reason: in the log and as an Event
// on the object.
func (c *Controller) tell(log *slog.Logger, w v1.Workload, state *memory, in Inputs) {
	rejected := map[string]string{}
	for v := range in.Verdicts() {
		obj := v.Object
		if v.Err == nil || c.stores.namespaceTerminating(obj.GetNamespace()) { // what it refers to may be gone already
			continue
		}
		id := v.Kind + " " + obj.GetNamespace() + "/" + obj.GetName()
		rejected[id] = v.Err.Error()
		if state.reported[id] == v.Err.Error() {
			continue
		}
		log.Warn("object is rejected", "kind", v.Kind, "namespace", obj.GetNamespace(), "name", obj.GetName(), "err", v.Err)
		if c.recorder == nil {
			continue
		}
		selects := c.kind.SelectsBy(v.Kind)
		regarding := obj.DeepCopyObject()
		regarding.GetObjectKind().SetGroupVersionKind(selects.GroupVersionKind)
		c.recorder.Eventf(regarding, w, corev1.EventTypeWarning, "InvalidConfiguration", selects.Action, "%q was rejected by %s %s/%s: %s",
			obj.GetNamespace()+"/"+obj.GetName(), c.kind.Kind, w.GetNamespace(), w.GetName(), excerpt.Of(v.Err.Error(), budget.EventBytes))
	}
	state.reported = rejected
}

// SelectsBy is how workloads select objects of a kind; without Row when they select none.
func (k *Kind) SelectsBy(kind string) Selects {
	for _, s := range k.Selects {
		if s.Kind == kind {
			return s
		}
	}
	return Selects{}
}

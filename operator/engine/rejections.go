package engine

import (
	"crypto/sha256"
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// results are the results of a reconciliation, collected in one pass: of 10,000 selected objects,
// few are rejected or lack something.
type results struct {
	counts   map[string]Selection // by kind
	rejected []fragments.Result
	partial  []fragments.Result       // with fields that were left out
	bound    map[string][]boundResult // all of them, by kind; nil unless they are written to the objects
}

// results collects the results. bindings requests those for the status of the objects.
func (k *Kind) results(in Inputs, bindings bool) results {
	out := results{counts: make(map[string]Selection, len(k.Selects))}
	for _, s := range k.Selects {
		out.counts[s.Kind] = Selection{}
	}
	if bindings {
		out.bound = map[string][]boundResult{}
	}
	for v := range in.Results() {
		n := out.counts[v.Kind]
		n.Selected++
		if v.Err != nil {
			n.Rejected++
			out.rejected = append(out.rejected, v)
		}
		if len(v.Dropped) > 0 {
			out.partial = append(out.partial, v)
		}
		if out.bound != nil {
			out.bound[v.Kind] = append(out.bound[v.Kind], boundResultOf(v))
		}
		out.counts[v.Kind] = n
	}
	return out
}

// none reports whether nothing is selected.
func (r results) none() bool {
	for _, n := range r.counts {
		if n.Selected > 0 {
			return false
		}
	}
	return true
}

// loggedRejections bounds the rejections that one reconciliation logs: a Secret may be the reason of thousands.
const loggedRejections = 100

// reportRejections reports rejected objects, once for each reason, in the log and as an Event on the object.
func (c *Controller) reportRejections(log *slog.Logger, w v1.Workload, state *memory, all []fragments.Result) {
	rejected, logged := map[string]reason{}, 0
	for _, v := range all {
		obj := v.Object
		if c.stores.namespaceTerminating(obj.GetNamespace()) { // its references may already be deleted
			continue
		}
		id, text := v.Kind+" "+obj.GetNamespace()+"/"+obj.GetName(), v.Err.Error()
		rejected[id] = sha256.Sum256([]byte(text))
		if before, is := state.reported[id]; is && before == rejected[id] {
			continue
		}
		if logged++; logged <= loggedRejections {
			log.Warn("object is rejected", "kind", v.Kind, "namespace", obj.GetNamespace(), "name", obj.GetName(), "err", excerpt.Of(text, budget.MessageBytes))
		}
		if c.recorder == nil {
			continue
		}
		selects := c.kind.SelectsBy(v.Kind)
		c.recorder.Eventf(regarding(selects.GroupVersionKind, obj), w, corev1.EventTypeWarning, "InvalidConfiguration", selects.Action, "%s", c.kind.RejectionNote(w, obj, v.Err))
	}
	if more := logged - loggedRejections; more > 0 {
		log.Warn("more objects are rejected, explain and their Events name the reasons", "objects", more)
	}
	state.reported = rejected
}

// RejectionNote returns the text of the Event about an object that a workload rejects.
func (k *Kind) RejectionNote(w v1.Workload, obj metav1.Object, err error) string {
	return fmt.Sprintf("%q was rejected by %s %s/%s: %s",
		obj.GetNamespace()+"/"+obj.GetName(), k.Kind, w.GetNamespace(), w.GetName(), excerpt.Of(err.Error(), budget.EventBytes))
}

// reason is the hash of a rejection's message, which may be long.
type reason [sha256.Size]byte

// regarding returns the part of an object that an Event refers to.
func regarding(kind schema.GroupVersionKind, obj metav1.Object) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
	}}
	out.SetGroupVersionKind(kind)
	return out
}

// SelectsBy returns how workloads select objects of a kind; Row is nil if they select none.
func (k *Kind) SelectsBy(kind string) Selects {
	for _, s := range k.Selects {
		if s.Kind == kind {
			return s
		}
	}
	return Selects{}
}

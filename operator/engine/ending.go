package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

const (
	// endingGrace is how long the deletion of an object that runs pods may take before the workload counts as not
	// reconciled. That of a StatefulSet that is recreated takes less than a second.
	endingGrace = 30 * time.Second
	// endingLook is the pause between comparisons with such an object. Its end triggers an event.
	endingLook = time.Minute
)

// ending returns an error if an object that the plan puts has been in deletion for longer than endingGrace: it is not
// written before it is gone and recreated. Within that time, it schedules the next comparison. state.ending is the time
// at which the first one noticed it, because clocks differ.
func (c *Controller) ending(key types.NamespacedName, state *memory, plan *Plan) error {
	going := c.going(plan)
	if len(going) == 0 {
		state.ending = time.Time{}
		return nil
	}
	if state.ending.IsZero() {
		state.ending = time.Now()
	}
	since := state.ending
	var lines []string
	for _, o := range going {
		if at := o.GetDeletionTimestamp().Time; at.Before(since) {
			since = at
		}
		lines = append(lines, fmt.Sprintf("%s %q is being deleted since %s, and is recreated with the current spec once it is gone: it waits for %s",
			apply.KindOf(o), o.GetName(), o.GetDeletionTimestamp().UTC().Format(time.RFC3339), awaited(o)))
	}
	if rest := endingGrace - time.Since(since); rest > 0 {
		c.loop.enqueueAfter(key, rest)
		return nil
	}
	return &WaitError{For: endingLook, Condition: reasonDeletion, Reason: strings.Join(lines, "\n")}
}

// going returns the live objects that the plan puts to run pods and that are being deleted.
func (c *Controller) going(plan *Plan) (out []apply.Object) {
	for _, s := range plan.Workload {
		if s.Verb != apply.Put {
			continue
		}
		namespace, name := s.Object.GetNamespace(), s.Object.GetName()
		switch s.Object.(type) {
		case *appsv1.StatefulSet:
			if live, ok := c.writer.StatefulSets().Get(namespace, name); ok && live.DeletionTimestamp != nil {
				out = append(out, live)
			}
		case *appsv1.DaemonSet:
			if live, ok := c.writer.DaemonSets().Get(namespace, name); ok && live.DeletionTimestamp != nil {
				out = append(out, live)
			}
		}
	}
	return out
}

// awaited returns a human-readable list of what the deletion of an object waits for.
func awaited(o metav1.Object) string {
	var out []string
	for _, f := range o.GetFinalizers() {
		switch f {
		case metav1.FinalizerDeleteDependents:
			out = append(out, "its pods to end")
		case metav1.FinalizerOrphanDependents:
			out = append(out, "the garbage collector of Kubernetes to release its pods")
		default:
			out = append(out, fmt.Sprintf("the client that has to remove the finalizer %q", f))
		}
	}
	if len(out) == 0 {
		return "the API server"
	}
	slices.Sort(out)
	return strings.Join(out, ", and for ")
}

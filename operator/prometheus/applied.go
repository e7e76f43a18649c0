package prometheus

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
)

// Reasons of the condition ConfigApplied.
const (
	reasonAllApplied    = "AllPodsApplied"        // every pod runs what was written
	reasonConfigRefused = "ConfigurationRejected" // a server does not take it; the message says which and why
	reasonPodsPending   = "WaitingForPods"        // some pods are not there, not started or not told yet
	reasonPodsSilent    = "PodsNotReachable"      // the operator cannot ask them
)

// PodOutcome is what a pod made of the configuration.
type PodOutcome struct {
	Name    string
	Started bool
	delivery.Outcome
}

// AppliedInputs is everything that ConfigApplied is computed from.
type AppliedInputs struct {
	Written  bool // a pass has written a configuration
	Askable  bool // the pods' reloaders listen where they can be asked
	Expected int  // pods
	Pods     []PodOutcome
}

const (
	// maxPodsNamed and maxPodMessage (in bytes) bound the message.
	maxPodsNamed  = 10
	maxPodMessage = 300
)

// appliedOf says how many pods run what was written last. ok is false as long as
// that is not known and will be soon: what was said before stands.
func appliedOf(in AppliedInputs) (c v1.Condition, ok bool) {
	c.Type = v1.ConfigApplied
	if !in.Askable {
		c.Status, c.Reason = v1.ConditionUnknown, reasonPodsSilent
		c.Message = "the reloaders listen inside of their pods only (spec.listenLocal)"
		return c, true
	}
	total, applied, refused, silent := max(in.Expected, len(in.Pods)), 0, 0, 0
	var lines []string
	for _, p := range in.Pods {
		if p.Started && (p.State == delivery.NotAsked || !in.Written) {
			return c, false
		}
		why := p.Message
		switch {
		case !p.Started:
			why = "not started"
		case p.State == delivery.Applied:
			applied++
			continue
		case p.State == delivery.Refused:
			refused++
		case p.State == delivery.Silent:
			silent++
		}
		lines = append(lines, "pod "+p.Name+": "+shorten(why, maxPodMessage))
	}
	if n := total - len(in.Pods); n > 0 {
		lines = append(lines, fmt.Sprintf("%d not there yet", n))
	}
	missing := total - applied
	switch {
	case missing == 0:
		c.Status, c.Reason = v1.ConditionTrue, reasonAllApplied
	case refused > 0:
		c.Status, c.Reason = someOrNone(applied), reasonConfigRefused
	case missing == silent:
		c.Status, c.Reason = v1.ConditionUnknown, reasonPodsSilent
	default:
		c.Status, c.Reason = someOrNone(applied), reasonPodsPending
	}
	if n := len(lines) - maxPodsNamed; n > 0 {
		lines = append(lines[:maxPodsNamed], fmt.Sprintf("and %d more", n))
	}
	c.Message = strings.Join(append([]string{fmt.Sprintf("%d of %d pods run the configuration", applied, total)}, lines...), "\n")
	return c, true
}

// appliedOrBefore is the condition, or the one before while it is not known: after a
// start of the operator no status is written twice. An owner has none at first.
func appliedOrBefore(in StatusInputs) []v1.Condition {
	if c, ok := appliedOf(in.Applied); ok {
		return []v1.Condition{c}
	}
	for _, c := range in.Owner.Status.Conditions {
		if c.Type == v1.ConfigApplied {
			return []v1.Condition{c}
		}
	}
	return nil
}

func someOrNone(applied int) v1.ConditionStatus {
	if applied > 0 {
		return v1.ConditionDegraded
	}
	return v1.ConditionFalse
}

// watchPod has a pod asked what it made of what was written last.
func (c *Controller) watchPod(key types.NamespacedName, pod *corev1.Pod) {
	if hash := c.deliveredHash(key); hash != "" && started(pod) {
		c.watcher.Watch(keyOf(pod), hash)
	}
}

// started reports whether the containers of a pod may run.
func started(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "" && pod.DeletionTimestamp == nil
}

// askOutcome asks a pod what became of the content with a hash.
func (c *Controller) askOutcome(ctx context.Context, key types.NamespacedName, hash string) delivery.Outcome {
	pod, want, ok := c.reloadersOf(key, hash)
	if !ok {
		return delivery.Outcome{State: delivery.Silent, Message: "it cannot be asked"}
	}
	return delivery.AskOutcome(ctx, pod, want)
}

// podSettled has the status of a pod's owner looked at.
func (c *Controller) podSettled(key types.NamespacedName) {
	if pod, ok := c.stores.runningPods.Get(key.Namespace, key.Name); ok {
		if owner, ours := c.kind.ownerOfPod(pod); ours {
			c.loop.EnqueueStatus(owner)
		}
	}
}

// applied is what is known of the pods of an owner.
func (c *Controller) applied(o Owner, in StatusInputs) AppliedInputs {
	out := AppliedInputs{Askable: len(reloaders(o, c.opts.Workload).Ports) > 0, Written: c.deliveredHash(o.Key()) != ""}
	add := func(pods []*corev1.Pod) {
		for _, p := range pods {
			out.Pods = append(out.Pods, PodOutcome{Name: p.Name, Started: started(p), Outcome: c.watcher.Outcome(keyOf(p))})
		}
	}
	replicas := int(max(0, valueOr(o.Fields.Replicas, 1)))
	for _, s := range in.Shards {
		add(s.Pods)
		out.Expected += max(0, replicas-len(s.Pods))
	}
	if in.Nodes != nil {
		add(in.Nodes.Pods)
	}
	out.Expected += len(out.Pods)
	return out
}

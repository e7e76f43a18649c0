package engine

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

// Reasons of the condition ConfigApplied.
const (
	reasonAllApplied    = "AllPodsApplied"          // every pod runs what was written
	reasonAllReloaded   = "AllPodsReloaded"         // every pod has reloaded since, and some do not say what
	reasonConfigRefused = "ConfigurationRejected"   // a server does not take it; the message says which and why
	reasonNotWritten    = "ConfigurationNotWritten" // there is none that pods could run; Reconciled says why
	reasonPodsPending   = "WaitingForPods"          // some pods are not there, not started or not told yet
	reasonPodsSilent    = "PodsNotReachable"        // the operator cannot ask them
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
	total, count := max(in.Expected, len(in.Pods)), map[delivery.State]int{}
	if !in.Written && len(in.Pods) == 0 && total > 0 {
		c.Status, c.Reason = v1.ConditionFalse, reasonNotWritten
		c.Message = "no configuration has been written yet"
		return c, true
	}
	var lines []string
	for _, p := range in.Pods {
		if p.Started && (p.State == delivery.NotAsked || !in.Written) {
			return c, false
		}
		why := p.Message
		if p.Started {
			count[p.State]++
		} else {
			why = "not started"
		}
		if !p.Started || p.State != delivery.Applied {
			lines = append(lines, "pod "+p.Name+": "+excerpt.Of(why, maxPodMessage))
		}
	}
	if n := total - len(in.Pods); n > 0 {
		lines = append(lines, fmt.Sprintf("%d not created yet", n))
	}
	good := count[delivery.Applied] + count[delivery.Reloaded]
	switch {
	case total == count[delivery.Applied]:
		c.Status, c.Reason = v1.ConditionTrue, reasonAllApplied
	case total == good:
		c.Status, c.Reason = v1.ConditionTrue, reasonAllReloaded
	case count[delivery.Refused] > 0:
		c.Status, c.Reason = someOrNone(good), reasonConfigRefused
	case total == good+count[delivery.Silent]:
		c.Status, c.Reason = v1.ConditionUnknown, reasonPodsSilent
	default:
		c.Status, c.Reason = someOrNone(good), reasonPodsPending
	}
	if n := len(lines) - maxPodsNamed; n > 0 {
		lines = append(lines[:maxPodsNamed], fmt.Sprintf("and %d more", n))
	}
	c.Message = strings.Join(append([]string{summary(total, count)}, lines...), "\n")
	return c, true
}

func summary(total int, count map[delivery.State]int) string {
	text := fmt.Sprintf("%d of %d pods run the configuration", count[delivery.Applied], total)
	if n := count[delivery.Reloaded]; n > 0 {
		text += fmt.Sprintf(", %d reloaded after it was written (they do not report content)", n)
	}
	return text
}

// appliedOrBefore is the condition, or the one before while it is not known: after a
// start of the operator no status is written twice. A workload has none at first.
func appliedOrBefore(in StatusInputs) []v1.Condition {
	if c, ok := appliedOf(in.Applied); ok {
		return []v1.Condition{c}
	}
	for _, c := range in.Workload.GetWorkloadStatus().Conditions {
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

// applied is what is known of the pods of a workload.
func (c *Controller) applied(w v1.Workload, shape Shape, in StatusInputs) AppliedInputs {
	out := AppliedInputs{Askable: len(shape.Reloaders.Ports) > 0, Written: c.deliveredHash(keyOf(w)) != ""}
	add := func(pods []*corev1.Pod) {
		for _, p := range pods {
			out.Pods = append(out.Pods, PodOutcome{Name: p.Name, Started: started(p), Outcome: outcomeOfPod(p, shape.Server, c.watcher.Outcome(keyOf(p)))})
		}
	}
	for _, s := range in.Sets {
		add(s.Pods)
		out.Expected += max(0, int(shape.Replicas)-len(s.Pods))
	}
	if in.Nodes != nil {
		add(in.Nodes.Pods)
	}
	out.Expected += len(out.Pods)
	return out
}

// outcomeOfPod corrects what reloaders say by the state of the server's container, of
// which they do not know: one that does not run applies nothing.
func outcomeOfPod(p *corev1.Pod, server string, said delivery.Outcome) delivery.Outcome {
	if said.State == delivery.Refused || said.State == delivery.Silent {
		return said // which says more
	}
	for _, s := range p.Status.ContainerStatuses {
		switch {
		case s.Name != server:
		case s.State.Waiting != nil:
			return delivery.Outcome{State: delivery.Waiting, Message: "its server is not running: " + s.State.Waiting.Reason}
		case s.State.Terminated != nil:
			return delivery.Outcome{State: delivery.Waiting, Message: "its server is not running: " + s.State.Terminated.Reason}
		case s.Started != nil && !*s.Started:
			return delivery.Outcome{State: delivery.Waiting, Message: "its server is starting"}
		}
	}
	return said
}

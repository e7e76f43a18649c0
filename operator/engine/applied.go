package engine

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
)

// Reasons of the condition ConfigApplied.
const (
	reasonAllApplied    = "AllPodsApplied"          // every pod runs the written configuration
	reasonAllReloaded   = "AllPodsReloaded"         // every pod has reloaded since the write, but some do not report the content
	reasonConfigRefused = "ConfigurationRejected"   // a server rejects it; the message names the pod and the error
	reasonNotWritten    = "ConfigurationNotWritten" // there is none that pods could run; see Reconciled
	reasonPodsPending   = "WaitingForPods"          // some pods are not created, not started or not notified yet
	reasonPodsSilent    = "PodsNotReachable"        // the operator cannot query them
)

// podOutcome is the outcome of the configuration in one pod.
type podOutcome struct {
	Name    string
	Started bool
	delivery.Outcome
}

// appliedInputs are the inputs of the condition ConfigApplied.
type appliedInputs struct {
	Written  bool // a reconciliation has written a configuration
	Askable  bool // the pods' reloaders can be reached from outside
	Expected int  // number of pods
	Pods     []podOutcome
}

const (
	// maxPodsNamed and maxPodMessage (in bytes) bound the message.
	maxPodsNamed  = 10
	maxPodMessage = 300
)

// appliedOf computes the condition from the number of pods that run the configuration written last.
// ok is false while that is not known yet; the previous condition then remains.
func appliedOf(in appliedInputs) (c v1.Condition, ok bool) {
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

// appliedOrBefore returns the condition, or the previous one while it is not known, so that the
// status is not written twice after a restart of the operator. A new workload has none.
func appliedOrBefore(in statusInputs) []v1.Condition {
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

// applied returns the state of a workload's pods.
func (c *Controller) applied(w v1.Workload, shape Shape, in statusInputs) appliedInputs {
	out := appliedInputs{Askable: len(shape.Reloaders.Ports) > 0, Written: c.deliveredHash(catalog.KeyOf(w)) != ""}
	add := func(pods []*corev1.Pod) {
		for _, p := range pods {
			out.Pods = append(out.Pods, podOutcome{Name: p.Name, Started: started(p), Outcome: outcomeOfPod(p, shape.Server, c.watcher.Outcome(catalog.KeyOf(p)))})
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

// outcomeOfPod corrects the reloaders' outcome by the state of the server's container, which
// reloaders cannot see: a server that is not running applies nothing.
func outcomeOfPod(p *corev1.Pod, server string, said delivery.Outcome) delivery.Outcome {
	if said.State == delivery.Refused || said.State == delivery.Silent {
		return said // more specific than the container state
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

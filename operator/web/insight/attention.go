package insight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

// causes are sorted by urgency, for causes of the same Urgency.
var causes = []Cause{InvalidOwner, NotReconciled, PodsBehind, StuckRollout, RejectedObject, NoTargets, Unbalanced}

// fixes are human-readable instructions by cause.
var fixes = map[Cause]string{
	InvalidOwner:   "fix what the message names; operator lint finds faults in manifests",
	NotReconciled:  "fix what the message names; the log of the operator may have more",
	PodsBehind:     "see the pods of the workload; kubectl -n NAMESPACE logs POD has the reason",
	StuckRollout:   "fix what keeps the pod from becoming ready: see the pods of the workload and its Events",
	RejectedObject: "correct the field that the message names; the object's page says more",
	NoTargets:      "see which fields drop its targets, and the hints on the object's page",
	Unbalanced:     "targets with the same address hash to the same shard: set __tmp_hash by relabeling, or change spec.shards",
}

// notReconciled is the instruction for a workload that was never reconciled.
const notReconciled = "see the log of the operator; operator verify checks the installation"

// calls returns the problems that do not depend on targets. It ignores workloads that this operator
// does not manage.
func (e *entry) calls() (out []Attention) {
	r := &e.report
	if r.Unmanaged != "" {
		return nil
	}
	add := func(u Urgency, cause Cause, object catalog.Ref, format string, args ...any) {
		out = append(out, Attention{Urgency: u, Cause: cause, Workload: e.ref, Object: object, Message: brief(fmt.Sprintf(format, args...)), Fix: fixes[cause]})
	}
	var none catalog.Ref
	if r.Invalid != "" {
		add(Broken, InvalidOwner, none, "%s", r.Invalid)
	}
	if len(r.Conditions) == 0 {
		out = append(out, Attention{Urgency: Warning, Cause: NotReconciled, Workload: e.ref, Message: "its status has no conditions: no operator has reconciled it yet", Fix: notReconciled})
	}
	for _, c := range r.Conditions {
		if c.Status == "True" || c.Stale || c.Type == "Reconciled" && r.Invalid != "" {
			continue
		}
		switch u := urgencyOf(c); {
		case c.Type == "Reconciled":
			add(u, NotReconciled, none, "%s", said(c))
		case c.Type == "Available" && len(r.Pods) == 0, c.Type == "ConfigApplied":
			add(u, PodsBehind, none, "%s", said(c))
		case c.Type != "Available":
			add(Warning, NotReconciled, none, "%s is %s: %s", c.Type, c.Status, said(c))
		}
	}
	e.podCalls(func(u Urgency, cause Cause, format string, args ...any) { add(u, cause, none, format, args...) })
	for _, ref := range slices.SortedFunc(maps.Keys(e.states), compareRefs) {
		if v := e.states[ref]; v.state == status.Rejected {
			add(Broken, RejectedObject, ref, "%s", v.message)
		}
	}
	sortCalls(out)
	return out
}

// urgencyOf returns the urgency of a condition that is not True. Unknown is only a warning.
func urgencyOf(c status.Condition) Urgency {
	if c.Status == "False" {
		return Broken
	}
	return Warning
}

// said returns the text of a condition in one line.
func said(c status.Condition) string {
	if c.Message == "" {
		return c.Words
	}
	return c.Words + ": " + strings.ReplaceAll(c.Message, "\n", "; ")
}

// podCalls adds problems about pods that are not ready or outdated.
func (e *entry) podCalls(add func(u Urgency, cause Cause, format string, args ...any)) {
	var unready, outdated, blocking []status.Pod
	for _, p := range e.report.Pods {
		if !p.Ready {
			unready = append(unready, p)
		}
		switch {
		case p.Outdated:
			outdated = append(outdated, p)
		case !p.Ready:
			blocking = append(blocking, p)
		}
	}
	if n := len(unready); n > 0 {
		u := Warning
		if n == len(e.report.Pods) {
			u = Broken
		}
		add(u, PodsBehind, "%d of %d pods are not ready; %s: %s", n, len(e.report.Pods), unready[0].Name, cmp.Or(unready[0].Message, "no reason given"))
	}
	if len(outdated) == 0 {
		return
	}
	if len(blocking) > 0 {
		add(Broken, StuckRollout, "pod %s of the new revision is not ready (%s), so %d of %d pods keep the old one", blocking[0].Name, cmp.Or(blocking[0].Message, "no reason given"), len(outdated), len(e.report.Pods))
		return
	}
	add(Warning, StuckRollout, "%d of %d pods run an older revision, such as %s", len(outdated), len(e.report.Pods), outdated[0].Name)
}

// sortCalls sorts by urgency, the most urgent first.
func sortCalls(all []Attention) {
	slices.SortStableFunc(all, func(a, b Attention) int {
		return cmp.Or(rank(a.Urgency)-rank(b.Urgency), slices.Index(causes, a.Cause)-slices.Index(causes, b.Cause),
			compareRefs(a.Workload, b.Workload), compareRefs(a.Object, b.Object))
	})
}

func rank(u Urgency) int {
	if u == Broken {
		return 0
	}
	return 1
}

// counted is the cached result of [entry.all] for some counts.
type counted struct {
	from *TargetCounts
	all  []Attention
}

// all returns all problems, including those about targets if the counts are known.
func (e *entry) all(c *TargetCounts) []Attention {
	if c == nil || e.report.Unmanaged != "" {
		return e.attention
	}
	if known := e.counted.Load(); known != nil && known.from == c {
		return known.all
	}
	out := append(slices.Clone(e.attention), e.targetCalls(c)...)
	sortCalls(out)
	e.counted.Store(&counted{c, out})
	return out
}

// leastForBalance is the number of targets up to which shards are not checked for balance.
const leastForBalance = 100

// targetCalls returns problems about objects without targets and unbalanced shards.
func (e *entry) targetCalls(c *TargetCounts) (out []Attention) {
	if !c.Synced {
		return nil // there may be more
	}
	for ref, v := range e.states {
		counts, known := c.Objects[ref]
		row := catalog.Of(ref.Kind)
		if v.state != status.Accepted || !known || row == catalog.PrometheusRule || counts.Kept+counts.OtherShard+counts.Forbidden+counts.Unknown > 0 {
			continue
		}
		out = append(out, Attention{Urgency: Warning, Cause: NoTargets, Workload: e.ref, Object: ref, Message: "it has no targets" + why(counts), Fix: fixes[NoTargets]})
	}
	if c.partial() {
		return out
	}
	most, sum := 0, 0
	for _, n := range c.PerShard {
		most, sum = max(most, n), sum+n
	}
	if n := len(c.PerShard); n > 1 && sum > leastForBalance && most*n > 2*sum {
		out = append(out, Attention{
			Urgency: Warning, Cause: Unbalanced, Workload: e.ref, Fix: fixes[Unbalanced],
			Message: fmt.Sprintf("shard %d scrapes %d targets, the mean of %d shards is %d", slices.Index(c.PerShard, most), most, n, sum/n),
		})
	}
	return out
}

// why returns the reason why an object has no targets.
func why(c preview.Counts) string {
	origin, most := "", 0
	for _, o := range slices.Sorted(maps.Keys(c.Dropped)) {
		if c.Dropped[o] > most {
			origin, most = o, c.Dropped[o]
		}
	}
	switch {
	case most > 0:
		return fmt.Sprintf(": %d are dropped by %s", most, origin)
	case c.Invalid > 0:
		return fmt.Sprintf(": %d are invalid", c.Invalid)
	case c.OverLimit > 0:
		return fmt.Sprintf(": %d are over the limit of targets", c.OverLimit)
	}
	return ": nothing is found"
}

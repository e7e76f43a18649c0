package insight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
)

// causes are sorted by urgency, for causes of the same Urgency.
var causes = []Cause{InvalidOwner, NotReconciled, PodsBehind, StuckRollout, RejectedObject, NoTargets, Overlapping, Unbalanced}

// remedy is the fix of a problem: a sentence, and a command with the names of the objects. Both may be empty.
type remedy struct{ fix, command string }

// remedies are the remedies that do not depend on the object, by cause.
var remedies = map[Cause]remedy{
	Overlapping: {fix: "narrow the selector of one of the objects, or drop the targets by relabeling; the page of a pod names the jobs that scrape it"},
	Unbalanced:  {fix: "targets with the same address hash to the same shard: set __tmp_hash by relabeling, or change spec.shards"},
}

// notReconciled is the remedy for a workload that was never reconciled.
var notReconciled = remedy{"check the installation of the operator", "operator verify"}

// shellSafe matches names that a shell does not interpret.
var shellSafe = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9.-]*$`)

// podRemedy returns the command that shows why a pod is not ready.
func podRemedy(namespace string, p status.Pod) remedy {
	switch {
	case !shellSafe.MatchString(namespace) || !shellSafe.MatchString(p.Name):
		return remedy{}
	case p.Restarts > 0:
		return remedy{command: fmt.Sprintf("kubectl -n %s logs %s --all-containers --tail=50", namespace, p.Name)}
	}
	return remedy{command: fmt.Sprintf("kubectl -n %s describe pod %s", namespace, p.Name)}
}

// problem returns a description with the remedy of its cause.
func problem(u Urgency, cause Cause, title, format string, args ...any) Problem {
	r := remedies[cause]
	return Problem{Urgency: u, Cause: cause, Title: title, Message: brief(fmt.Sprintf(format, args...)), Fix: r.fix, Command: r.command}
}

func (p Problem) with(r remedy) Problem {
	p.Fix, p.Command = r.fix, r.command
	return p
}

// calls returns the problems that do not depend on targets. It ignores workloads that this operator
// does not manage.
func (e *entry) calls() (out []Attention) {
	r := &e.report
	if r.Unmanaged != "" {
		return nil
	}
	add := func(object catalog.Ref, p Problem) {
		out = append(out, Attention{Problem: p, Workload: e.ref, Object: object})
	}
	var none catalog.Ref
	if r.Invalid != "" {
		add(none, problem(Broken, InvalidOwner, "invalid", "%s", r.Invalid))
	}
	if len(r.Conditions) == 0 {
		add(none, problem(Warning, NotReconciled, "not reconciled", "its status has no conditions: no operator has reconciled it yet").with(notReconciled))
	}
	for _, c := range r.Conditions {
		if c.Status == "True" || c.Stale || c.Type == "Reconciled" && r.Invalid != "" {
			continue
		}
		switch u := urgencyOf(c); {
		case c.Type == "Reconciled":
			add(none, problem(u, NotReconciled, "not reconciled", "%s", messageOf(c)))
		case c.Type == "Available" && len(r.Pods) == 0:
			add(none, problem(u, PodsBehind, "no pod", "%s", messageOf(c)))
		case c.Type == "ConfigApplied" && c.Status == "Unknown":
			add(none, problem(u, PodsBehind, "loaded config not known", "%s", messageOf(c)))
		case c.Type == "ConfigApplied":
			add(none, problem(u, PodsBehind, "config not loaded", "%s", messageOf(c)))
		case c.Type != "Available":
			add(none, problem(Warning, NotReconciled, c.Type+" is "+c.Status, "%s is %s: %s", c.Type, c.Status, messageOf(c)))
		}
	}
	e.podCalls(func(p Problem) { add(none, p) })
	for _, ref := range slices.SortedFunc(maps.Keys(e.states), compareRefs) {
		if v := e.states[ref]; v.state == status.Rejected {
			add(ref, problem(Broken, RejectedObject, "rejected", "%s", v.message))
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

// messageOf returns the message of a condition in one line.
func messageOf(c status.Condition) string {
	if c.Message == "" {
		return c.Words
	}
	return c.Words + ": " + strings.ReplaceAll(c.Message, "\n", "; ")
}

// podCalls adds problems about pods that are not ready or outdated.
func (e *entry) podCalls(add func(Problem)) {
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
	all := len(e.report.Pods)
	if n := len(unready); n > 0 {
		u, title := Warning, "pods not ready"
		if n == all {
			u, title = Broken, "no pod is ready"
		}
		add(problem(u, PodsBehind, title, "%d of %d pods are not ready; %s: %s", n, all, unready[0].Name, cmp.Or(unready[0].Message, "no reason given")).with(podRemedy(e.ref.Namespace, unready[0])))
	}
	if len(outdated) == 0 {
		return
	}
	if len(blocking) > 0 {
		add(problem(Broken, StuckRollout, "rollout stuck", "pod %s of the new revision is not ready (%s), so %d of %d pods keep the old one",
			blocking[0].Name, cmp.Or(blocking[0].Message, "no reason given"), len(outdated), all).with(podRemedy(e.ref.Namespace, blocking[0])))
		return
	}
	add(problem(Warning, StuckRollout, "old revision", "%d of %d pods run an older revision, such as %s", len(outdated), all, outdated[0].Name))
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

// countedAttention is the cached result of [entry.all] for some counts.
type countedAttention struct {
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
	e.counted.Store(&countedAttention{c, out})
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
		out = append(out, Attention{Problem: problem(Warning, NoTargets, "no targets", "it has no targets%s", why(counts)), Workload: e.ref, Object: ref})
	}
	for ref := range c.Overlaps {
		if e.states[ref].state == status.Accepted {
			out = append(out, Attention{Problem: problem(Warning, Overlapping, "scraped twice", "another job of the workload scrapes the same URLs, so their series are stored more than once"), Workload: e.ref, Object: ref})
		}
	}
	if c.partial() {
		return out
	}
	most, sum := 0, 0
	for _, n := range c.PerShard {
		most, sum = max(most, n), sum+n
	}
	if n := len(c.PerShard); n > 1 && sum > leastForBalance && most*n > 2*sum {
		out = append(out, Attention{Workload: e.ref, Problem: problem(Warning, Unbalanced, "shards uneven",
			"shard %d scrapes %d targets, the mean of %d shards is %d", slices.Index(c.PerShard, most), most, n, sum/n)})
	}
	return out
}

// why returns the reason why an object has no targets. Its selector drops the Services or pods of
// others, too: it is the reason only if nothing passes it.
func why(c preview.Counts) string {
	origin, most, selects := "", 0, false
	for _, o := range slices.Sorted(maps.Keys(c.Dropped)) {
		passes := !strings.HasPrefix(o, "spec.selector")
		if passes && !selects || passes == selects && c.Dropped[o] > most {
			origin, most, selects = o, c.Dropped[o], passes
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

package insight

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// maxChanges limits the changes of a workload.
const maxChanges = 20

// compare records which objects changed their state between two entries. Beyond the limit, changes
// are left out. The time is known only if the previous snapshot was current until shortly before.
func (k *kept) compare(old, now *entry, at, before time.Time) {
	if old == nil || old.statesUnknown || now.statesUnknown || at.Sub(before) > noticed {
		return
	}
	var fresh []Change
	add := func(ref catalog.Ref, what string) {
		if len(fresh) < maxChanges {
			fresh = append(fresh, Change{At: at.UTC(), What: what, Object: ref})
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(now.states), compareRefs) {
		if was, is := old.states[ref].state, now.states[ref].state; was != is {
			add(ref, string(is))
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(old.states), compareRefs) {
		if _, still := now.states[ref]; !still {
			add(ref, "no longer selected")
		}
	}
	k.changes = append(fresh, k.changes...)
	k.changes = slices.Clone(k.changes[:min(len(k.changes), maxChanges)])
}

// changes returns the last changes: those of objects, conditions, pods and of the configuration.
func (e *entry) changes(pods []RolloutPod) []Change {
	out := slices.Clone(e.history)
	add := func(at time.Time, format string, args ...any) {
		if !at.IsZero() {
			out = append(out, Change{At: at.UTC(), What: fmt.Sprintf(format, args...)})
		}
	}
	for _, c := range e.report.Conditions {
		add(c.Since, "condition %s is %s", c.Type, c.Status)
	}
	for _, p := range pods {
		add(p.Since, "pod %s started", p.Name)
		add(p.LastReload, "pod %s loaded a configuration", p.Name)
	}
	add(e.since, "the configuration changed")
	slices.SortStableFunc(out, func(a, b Change) int { return b.At.Compare(a.At) })
	return append([]Change{}, out[:min(len(out), maxChanges)]...)
}

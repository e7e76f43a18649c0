package amconfig

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

var (
	errGroupLabels = fmt.Errorf("has more than %d labels, the limit of one route: group by fewer labels, or by %q for all", budget.GroupLabels, allLabels)
	errRanges      = fmt.Errorf("the time intervals have more than %d ranges of times, weekdays and so on, the limit of one route", budget.IntervalRanges)
)

// checkCosts limits what each group of alerts of a route and of its children costs an Alertmanager.
//
// ranges: of each time interval.
func (n *routeNode) checkCosts(ranges map[string]int, wrong *faults.List) {
	if wrong.Full() {
		return
	}
	if len(n.GroupBy) > budget.GroupLabels {
		wrong.Add(n.path+".groupBy", errGroupLabels)
	}
	most := budget.IntervalRanges
	for _, list := range []struct {
		field string
		names []string
	}{{"muteTimeIntervals", n.MuteTimeIntervals}, {"activeTimeIntervals", n.ActiveTimeIntervals}} {
		for _, name := range list.names {
			most -= max(1, ranges[name])
		}
		if most < 0 {
			wrong.Add(n.path+"."+list.field, errRanges)
			break
		}
	}
	for _, child := range n.children {
		child.checkCosts(ranges, wrong)
	}
}

// rangesOf returns the number of ranges of each time interval; a period without any counts as one.
func rangesOf(intervals []v1alpha1.MuteTimeInterval) map[string]int {
	out := make(map[string]int, len(intervals))
	for i := range intervals {
		for j := range intervals[i].TimeIntervals {
			p := &intervals[i].TimeIntervals[j]
			out[intervals[i].Name] += max(1, len(p.Times)+len(p.Weekdays)+len(p.DaysOfMonth)+len(p.Months)+len(p.Years))
		}
	}
	return out
}

// checkIntegrations limits the number of integrations of all receivers.
func checkIntegrations(integrations map[string]int) error {
	all := 0
	for _, n := range integrations {
		all += n
	}
	if all > budget.Integrations {
		return faults.At("spec.receivers", fmt.Errorf("all receivers together have more than %d integrations, the limit of one %s", budget.Integrations, v1alpha1.AlertmanagerConfigKind))
	}
	return nil
}

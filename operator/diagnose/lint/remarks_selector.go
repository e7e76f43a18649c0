package lint

import (
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// contradictions reports requirements of a label selector that no labels can meet together.
func contradictions(say says, field string, s *metav1.LabelSelector) {
	if s == nil || isLarge(s) {
		return
	}
	keys := map[string]*demands{}
	of := func(key string) *demands {
		if keys[key] == nil {
			keys[key] = &demands{}
		}
		return keys[key]
	}
	for key, value := range s.MatchLabels {
		of(key).in([]string{value})
		of(key).last = faults.Key("matchLabels", key)
	}
	for i, e := range s.MatchExpressions {
		d, at := of(e.Key), fmt.Sprintf("matchExpressions[%d]", i)
		if possible := d.possible(); !d.add(e) && possible && d.last != "" {
			say(field+"."+at, "contradicts %s, so that nothing is selected: no object has labels that meet both", d.last)
		}
		d.last = at
	}
}

// mostDemands is the maximum number of requirements and values that are compared with each other.
const mostDemands = 1000

func isLarge(s *metav1.LabelSelector) bool {
	n := len(s.MatchLabels) + len(s.MatchExpressions)
	for _, e := range s.MatchExpressions {
		n += len(e.Values)
	}
	return n > mostDemands
}

// demands are the requirements of a selector for one label.
type demands struct {
	values   []string // allowed ones, sorted
	limited  bool     // whether other values than these are not
	excluded map[string]bool
	exists   bool
	absent   bool
	last     string // path of the last requirement
}

// add adds a requirement, and reports whether a label can meet all of them.
func (d *demands) add(e metav1.LabelSelectorRequirement) bool {
	switch e.Operator {
	case metav1.LabelSelectorOpIn:
		d.in(e.Values)
	case metav1.LabelSelectorOpNotIn:
		if d.excluded == nil {
			d.excluded = map[string]bool{}
		}
		for _, value := range e.Values {
			d.excluded[value] = true
		}
	case metav1.LabelSelectorOpExists:
		d.exists = true
	case metav1.LabelSelectorOpDoesNotExist:
		d.absent = true
	}
	return d.possible()
}

func (d *demands) in(values []string) {
	values = slices.Sorted(slices.Values(values))
	if d.limited {
		before := d.values
		values = slices.DeleteFunc(values, func(value string) bool { _, found := slices.BinarySearch(before, value); return !found })
	}
	d.values, d.limited, d.exists = values, true, true
}

// possible reports whether a label can meet all demands.
func (d *demands) possible() bool {
	if d.exists && d.absent {
		return false
	}
	return !d.limited || slices.ContainsFunc(d.values, func(value string) bool { return !d.excluded[value] })
}

// selectorRemarks reports selectors of a workload that select nothing.
func selectorRemarks(say says, w dryrun.Workload) {
	for _, s := range w.Kind.Selects {
		namespaces, objects := s.Of(w.Object)
		contradictions(say, "spec."+s.Field+"NamespaceSelector", namespaces)
		contradictions(say, "spec."+s.Field+"Selector", objects)
	}
}

// zeroRemark reports an interval of zero, which Prometheus takes for one that is not set.
func zeroRemark(say says, field string, interval v1.Duration) {
	if d, err := model.ParseDuration(string(interval)); err == nil && d == 0 {
		say(field, "%s is as if it were not set: the interval is spec.scrapeInterval of the workload; leave it out, or write how often to scrape", interval)
	}
}

package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// maxDropSteps is the maximum number of steps with which names of metrics are compared.
const maxDropSteps = 200

// dropStep is a step that drops metrics by their name.
type dropStep struct {
	of    string // the monitor, and the path in it
	names *regexp.Regexp
	work  int // see [regexcost.Work]
}

// droppedMetrics reports metrics in expressions that each endpoint of the monitors of a workload drops.
func (l *linter) droppedMetrics(w dryrun.Workload, all []fragments.Result) {
	f := v1alpha1.CommonFields(w.Object)
	if f == nil || hasOtherJobs(f) || !slices.ContainsFunc(all, func(v fragments.Result) bool { return v.Kind == catalog.PrometheusRule.Kind }) {
		return
	}
	endpoints := dropsOf(all)
	if len(endpoints) == 0 {
		return
	}
	work := 0
	for _, steps := range endpoints {
		for _, s := range steps {
			work += s.work
		}
	}
	compared := map[string]string{} // the step that drops a metric; empty if none does
	drops := func(name string) string {
		by, known := compared[name]
		if !known && l.affords(work, len(name)) {
			by = droppedBy(name, endpoints)
			compared[name] = by
		}
		return by
	}
	recorded := l.recordedNames()
	isRecorded := func(name string) bool { _, is := slices.BinarySearch(recorded, name); return is }
	for _, v := range all {
		r, is := v.Object.(*v1.PrometheusRule)
		if !is || v.Err != nil {
			continue
		}
		for _, q := range queriesOf(r) {
			for _, selector := range q.selectors() {
				name := nameIn(selector)
				if name == "" || isRecorded(name) {
					continue
				}
				if by := drops(name); by != "" {
					l.note(Finding{Kind: v.Kind, Namespace: r.Namespace, Name: r.Name})(q.path("expr"), "%s is dropped by %s, so the expression has no result unless another monitor has this metric: take it out of the step", name, by)
				}
			}
		}
	}
}

// droppedBy returns the first step that drops a metric, if each endpoint has one; empty otherwise.
func droppedBy(name string, endpoints [][]dropStep) (by string) {
	for _, steps := range endpoints {
		i := slices.IndexFunc(steps, func(s dropStep) bool { return s.names.MatchString(name) })
		if i < 0 {
			return ""
		}
		if by == "" {
			by = steps[i].of
		}
	}
	return by
}

// dropsOf returns the steps that drop metrics by their name, for each endpoint of the monitors; nil if one has none, or if
// there are too many.
func dropsOf(all []fragments.Result) (out [][]dropStep) {
	n := 0
	add := func(v fragments.Result, path string, steps []v1.RelabelConfig) bool {
		drops := dropSteps(fmt.Sprintf("%s of %s %s/%s", path, v.Kind, v.Object.GetNamespace(), v.Object.GetName()), steps)
		out, n = append(out, drops), n+len(drops)
		return len(drops) > 0 && n <= maxDropSteps
	}
	for _, v := range all {
		known := v.Err == nil
		switch m := v.Object.(type) {
		case *v1.ServiceMonitor:
			for i := range m.Spec.Endpoints {
				known = known && add(v, fmt.Sprintf("spec.endpoints[%d].metricRelabelings", i), m.Spec.Endpoints[i].MetricRelabelConfigs)
			}
		case *v1.PodMonitor:
			for i := range m.Spec.PodMetricsEndpoints {
				known = known && add(v, fmt.Sprintf("spec.podMetricsEndpoints[%d].metricRelabelings", i), m.Spec.PodMetricsEndpoints[i].MetricRelabelConfigs)
			}
		case *v1.Probe:
			known = known && add(v, "spec.metricRelabelings", m.Spec.MetricRelabelConfigs)
		case *v1alpha1.ScrapeConfig:
			known = known && add(v, "spec.metricRelabelings", m.Spec.MetricRelabelConfigs)
		default:
			continue
		}
		if !known {
			return nil
		}
	}
	return out
}

// dropSteps returns the steps of a list that drop metrics by their name, before one that may change names.
func dropSteps(path string, steps []v1.RelabelConfig) (out []dropStep) {
	for i := range steps {
		s := &steps[i]
		action := strings.ToLower(s.Action)
		if s.TargetLabel == model.MetricNameLabel || strings.Contains(s.TargetLabel, "$") || action == "labelmap" || action == "labelkeep" {
			return out
		}
		if action != "drop" || len(s.SourceLabels) != 1 || s.SourceLabels[0] != model.MetricNameLabel || s.Regex == "" {
			continue
		}
		parsed, err := regexcost.Parse(s.Regex)
		if err != nil {
			continue
		}
		if re, err := regexcost.Whole(s.Regex); err == nil {
			out = append(out, dropStep{strings.Replace(path, "metricRelabelings", fmt.Sprintf("metricRelabelings[%d]", i), 1), re, regexcost.Work(parsed)})
		}
	}
	return out
}

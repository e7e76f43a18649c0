package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// defaultLookback is the age up to which Prometheus, and most stores for its samples, use the last sample of a series.
const defaultLookback = 5 * time.Minute

// intervals reports intervals of scrapes and evaluations that are longer than the age up to which queries use a sample, and
// those of workloads that are so short that the server does little else: of other objects, they are rejected.
type intervals struct {
	say   says
	most  time.Duration // age up to which queries use a sample; 0: not known
	field string        // that sets it
}

// intervalsOf returns the reporter for a workload and the objects that it selects.
func intervalsOf(say says, w v1.Workload) intervals {
	out := intervals{say, defaultLookback, "unless spec.query.lookbackDelta says otherwise"}
	p, is := w.(*v1.Prometheus)
	switch {
	case slices.ContainsFunc(w.GetWorkloadFields().AdditionalArgs, func(a v1.Argument) bool { name, _ := a.Flag(); return name == "query.lookback-delta" }):
		out.most = 0
	case is && p.Spec.Query != nil && p.Spec.Query.LookbackDelta != nil:
		out.most, out.field = durationOr(v1.Duration(*p.Spec.Query.LookbackDelta), 0), "spec.query.lookbackDelta of the Prometheus"
	case !is:
		out.field = "unless the server that is queried says otherwise"
	}
	return out
}

// check reports an interval; between are the events that are too rare.
func (r intervals) check(field string, interval v1.Duration, between string) {
	if d := durationOr(interval, 0); r.most > 0 && d > r.most {
		r.say(field, "%s is longer than %s, the age up to which a query uses a sample (%s), so that graphs and alerts have gaps before each %s; write less, or read the series with functions over a range, such as last_over_time",
			interval, model.Duration(r.most), r.field, between)
	}
}

// checkOwn reports an interval of a workload.
func (r intervals) checkOwn(field string, interval v1.Duration, between string) {
	if err := budget.CheckInterval(durationOr(interval, 0)); err != nil {
		r.say(field, "%s", err.Error())
	}
	r.check(field, interval, between)
}

// ofWorkload checks the intervals that apply where an object sets none.
func (r intervals) ofWorkload(w v1.Workload) {
	if common := v1alpha1.CommonFields(w); common != nil {
		r.checkOwn("spec.scrapeInterval", common.ScrapeInterval, "scrape")
	}
	switch w := w.(type) {
	case *v1.Prometheus:
		r.checkOwn("spec.evaluationInterval", w.Spec.EvaluationInterval, "evaluation")
	case *v1.ThanosRuler:
		r.checkOwn("spec.evaluationInterval", w.Spec.EvaluationInterval, "evaluation")
	}
}

// ofObject checks the intervals of an object that a workload selects.
func (r intervals) ofObject(object catalog.Object) {
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		for i, e := range m.Spec.Endpoints {
			r.check(fmt.Sprintf("spec.endpoints[%d].interval", i), e.Interval, "scrape")
		}
	case *v1.PodMonitor:
		for i, e := range m.Spec.PodMetricsEndpoints {
			r.check(fmt.Sprintf("spec.podMetricsEndpoints[%d].interval", i), e.Interval, "scrape")
		}
	case *v1.Probe:
		r.check("spec.interval", m.Spec.Interval, "scrape")
	case *v1alpha1.ScrapeConfig:
		r.check("spec.scrapeInterval", m.Spec.ScrapeInterval, "scrape")
	case *v1.PrometheusRule:
		for i, group := range m.Spec.Groups {
			if slices.ContainsFunc(group.Rules, func(rule v1.Rule) bool { return rule.Record != "" }) {
				r.check(fmt.Sprintf("spec.groups[%d].interval", i), group.Interval, "evaluation")
			}
		}
	}
}

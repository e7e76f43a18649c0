package lint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// valueOutput matches the value of an alert that a template writes as it is or formatted.
var valueOutput = lazyregexp.New(`\{\{-?\s*(\$value|\.Value)\s*(\|[^{}]*)?\}\}`)

// valueRemarks reports labels of alerts with the value of the expression.
func valueRemarks(say says, queries []*query) {
	for _, q := range queries {
		if q.rule.Alert == "" {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(q.rule.Labels)) {
			if valueOutput.MatchString(q.rule.Labels[key]) {
				say(q.path("labels."+key), "labels identify an alert, so it becomes another one whenever the value changes: for starts again, and the old one is resolved; write the value into an annotation")
			}
		}
	}
}

// queryRemarks reports expressions that never have a result: operations between vectors whose
// labels differ, quantiles without buckets, and functions over ranges with less than two samples; and alerts without a
// condition. interval is the shortest interval between samples; 0 if it is unknown.
func queryRemarks(always, note, here says, queries []*query, interval time.Duration, from string) {
	for _, q := range queries {
		text := q.text
		if strings.Contains(text, "#") {
			joinedRemark(note, q)
		}
		if !strings.ContainsAny(text, "[-/") && !strings.Contains(text, "_total") && !aggregates.MatchString(text) && !ofSuccess.MatchString(text) && !beginsAsText.MatchString(text) || q.expr() == nil {
			continue
		}
		field := q.path("expr")
		if why := noResult(q.expr()); why != "" {
			always(field, "%s", why)
			continue
		}
		parser.Inspect(q.expr(), func(n parser.Node, _ []parser.Node) error {
			switch n := n.(type) {
			case *parser.BinaryExpr:
				if why := cmp.Or(unmatched(n), subtracted(text, n), neverTrue(n), dividedByItself(n)); why != "" {
					always(field, "%s", why)
				}
				if why := estimated(n); why != "" {
					note(field, "%s", why)
				}
			case *parser.AggregateExpr:
				if why := beyondOne(n.Op.String(), n.Param); n.Op == parser.QUANTILE && why != "" {
					always(field, "%s", why)
				}
			case *parser.Call:
				if why := cmp.Or(quantileOf(n), bucketless(n)); why != "" {
					always(field, "%s", why)
				}
				if why := shortRange(n, interval, from); why != "" {
					here(field, "%s", why)
				}
			}
			return nil
		})
		if counter := growing(q.expr()); q.rule.Alert != "" && counter != "" {
			note(field, "%[1]s is a counter, by its name, and only grows until its process starts again, and so the alert fires until then once it does; write increase(%[1]s[…]), or rate, for what happened lately", counter)
		}
		if why := unconditional(q.expr()); q.rule.Alert != "" && why != "" {
			note(field, "%s, so the alert fires for each series, whatever its value is, and never stops as long as there is one; %s", why, cmp.Or(commentedOut(text), comparison(q.expr())))
		}
	}
}

// aggregates matches expressions that may aggregate by labels.
var aggregates = lazyregexp.New(`\b(by|bool)\b|\b(sum|min|max|avg|count|group|quantile|absent|absent_over_time)\b`)

// unmatched returns why an operation between two aggregations has no result: without on and
// ignoring, samples match those with equal labels. Empty if it may have one.
func unmatched(e *parser.BinaryExpr) string {
	match := e.VectorMatching
	if match == nil || match.Card != parser.CardOneToOne || match.On || len(match.MatchingLabels) > 0 || match.FillValues.LHS != nil || match.FillValues.RHS != nil {
		return ""
	}
	left, known := resultLabels(e.LHS)
	right, also := resultLabels(e.RHS)
	if !known || !also || !isAggregation(e.LHS) || !isAggregation(e.RHS) || maps.Equal(left, right) {
		return ""
	}
	common := slices.DeleteFunc(slices.Sorted(maps.Keys(left)), func(name string) bool { return !right[name] })
	advice := "aggregate both by the same labels"
	switch on := strings.Join(common, ", "); len(common) {
	case len(right):
		advice = fmt.Sprintf("write %s on (%s) group_left ()", e.Op, on)
	case len(left):
		advice = fmt.Sprintf("write %s on (%s) group_right ()", e.Op, on)
	}
	return fmt.Sprintf("%s has no result: samples of the first operand have %s, those of the second %s, and only samples with equal labels match; %s", e.Op, labelList(left), labelList(right), advice)
}

// isAggregation reports whether an expression is an aggregation by labels. Other expressions with
// known labels, such as absent, are often combined on purpose.
func isAggregation(e parser.Expr) bool {
	switch e := bare(e).(type) {
	case *parser.BinaryExpr:
		return e.LHS.Type() == parser.ValueTypeScalar && isAggregation(e.RHS) || e.RHS.Type() == parser.ValueTypeScalar && isAggregation(e.LHS)
	case *parser.AggregateExpr:
		return !e.Without
	}
	return false
}

// needTwo are the functions that need two samples in their range.
var needTwo = []string{"rate", "irate", "increase", "delta", "idelta", "deriv"}

// shortRange returns why a function has no result most of the time: its range holds less than two
// samples. Empty if it may have one.
func shortRange(call *parser.Call, interval time.Duration, from string) string {
	if interval == 0 || !slices.Contains(needTwo, call.Func.Name) || len(call.Args) == 0 {
		return ""
	}
	m, is := call.Args[0].(*parser.MatrixSelector)
	if !is || m.Range == 0 || m.Range >= 2*interval {
		return ""
	}
	if v, is := m.VectorSelector.(*parser.VectorSelector); !is || strings.Contains(v.Name, ":") { // a recorded one has the interval of its group
		return ""
	}
	return fmt.Sprintf("%s needs two samples, and [%s] mostly holds one, because %s is %s; write [%s] or more",
		call.Func.Name, model.Duration(m.Range), from, model.Duration(interval), model.Duration(4*interval))
}

// interval returns the shortest interval at which a workload scrapes, and what sets it. It is 0 if
// that is unknown: there may be other monitors, or jobs that are not in objects.
func (l *linter) interval(f *v1.CommonPrometheusFields) (shortest time.Duration, from string) {
	if f == nil || l.objects.Len() == 0 || f.AdditionalScrapeConfigs != nil {
		return 0, ""
	}
	if l.fastest == 0 {
		l.fastest = l.fastestMonitor()
	}
	shortest = durationOr(f.ScrapeInterval, 30*time.Second)
	if l.fastest < shortest {
		return l.fastest, "the shortest interval of a monitor"
	}
	return shortest, "spec.scrapeInterval of the Prometheus"
}

// fastestMonitor returns the shortest interval of all monitors, or a very long one.
func (l *linter) fastestMonitor() time.Duration {
	const never = time.Duration(math.MaxInt64)
	shortest := never
	take := func(text v1.Duration) { shortest = min(shortest, durationOr(text, never)) }
	for _, o := range l.objects.All(catalog.ServiceMonitor) {
		for _, e := range o.(*v1.ServiceMonitor).Spec.Endpoints {
			take(e.Interval)
		}
	}
	for _, o := range l.objects.All(catalog.PodMonitor) {
		for _, e := range o.(*v1.PodMonitor).Spec.PodMetricsEndpoints {
			take(e.Interval)
		}
	}
	for _, o := range l.objects.All(catalog.Probe) {
		take(o.(*v1.Probe).Spec.Interval)
	}
	for _, o := range l.objects.All(catalog.ScrapeConfig) {
		take(o.(*v1alpha1.ScrapeConfig).Spec.ScrapeInterval)
	}
	return shortest
}

// durationOr parses a duration; without a valid positive one it returns otherwise.
func durationOr(text v1.Duration, otherwise time.Duration) time.Duration {
	if d, err := model.ParseDuration(string(text)); err == nil && d > 0 {
		return time.Duration(d)
	}
	return otherwise
}

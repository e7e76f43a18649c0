package lint

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// repeatedRules reports rules that an object has twice, in one group or in two with the same labels: their results are the same
// series or alerts.
func repeatedRules(warn, note says, r *v1.PrometheusRule) {
	type result struct {
		rule   string
		labels digest // of the group
	}
	type place struct{ group, item int }
	first := map[result]place{}
	for i, group := range r.Spec.Groups {
		labels := digestOf(group.Labels)
		for j := range group.Rules {
			id := result{ruleID(&group.Rules[j]), labels}
			before, twice := first[id]
			if !twice {
				first[id] = place{i, j}
				continue
			}
			say := warn
			if before.group != i {
				say = note
			}
			say(fmt.Sprintf("spec.groups[%d].rules[%d]", i, j), "has name, expr and labels of spec.groups[%d].rules[%d], so their results are the same: remove one, or change its labels", before.group, before.item)
		}
	}
}

// collidingRules reports recording rules of one group with the same name and labels whose results both have no other labels,
// so that they are one series.
func collidingRules(note says, queries []*query) {
	type result struct {
		group  int
		series digest
	}
	first := map[result]*query{}
	for _, q := range queries {
		if q.rule.Record == "" || !mayLackLabels(q.text) || q.expr() == nil || !alwaysLabelless(q.expr()) {
			continue
		}
		id := result{q.group, digestOf(q.rule.Record, q.rule.Labels)}
		before, again := first[id]
		switch {
		case !again:
			first[id] = q
		case ruleID(before.rule) != ruleID(q.rule): // see repeatedRules
			note(q.path("record"), "spec.groups[%d].rules[%d] records this name with the same labels, and neither result has others, so that both are one series: where both exprs have a result, Prometheus drops one as a duplicate; give each a label, such as labels: {of: a}, or another name", before.group, before.item)
		}
	}
}

// alwaysLabelless reports whether the result of an expression has no labels, and does not depend on a comparison.
func alwaysLabelless(e parser.Expr) bool {
	if b, is := bare(e).(*parser.BinaryExpr); is {
		return !b.Op.IsComparisonOperator() && labelless(e, false)
	}
	return labelless(e, false)
}

// emptyRules reports a PrometheusRule without rules.
func emptyRules(note says, r *v1.PrometheusRule) {
	if !slices.ContainsFunc(r.Spec.Groups, func(g v1.RuleGroup) bool { return len(g.Rules) > 0 }) {
		note("spec.groups", "has no rules, so nothing is evaluated: write groups: [{name: …, rules: [{alert: …, expr: …}]}]")
	}
}

// ruleID identifies the results of a rule: rules with equal ones produce the same series.
func ruleID(rule *v1.Rule) string {
	return fmt.Sprintf("%q %q %q %q", rule.Record, rule.Alert, strings.TrimSpace(rule.Expr.String()), rule.Labels)
}

// digest identifies values that may be long, and are compared for each of many rules or targets.
type digest [sha256.Size]byte

func digestOf(values ...any) digest { return sha256.Sum256(fmt.Appendf(nil, "%q", values)) }

// repeatedOver reports rules that several objects have, all of which a workload selects. An object whose namespace
// becomes a label of its rules has other results than one of another namespace.
func (l *linter) repeatedOver(w dryrun.Workload, selected []fragments.Result) {
	type result struct {
		namespace string // if it is a label of the rule
		labels    digest // of the group
		rule      string
	}
	enforced, _ := enforcement(w.Object)
	first := map[result]*v1.PrometheusRule{}
	for _, v := range selected {
		r, is := v.Object.(*v1.PrometheusRule)
		if !is || v.Err != nil {
			continue
		}
		own := ""
		if enforced != "" {
			own = r.Namespace
		}
		for i := range r.Spec.Groups {
			group := &r.Spec.Groups[i]
			labels := digestOf(group.Labels)
			for j := range group.Rules {
				rule := &group.Rules[j]
				id := result{own, labels, ruleID(rule)}
				before, again := first[id]
				if !again {
					first[id] = r
					continue
				}
				if before == r {
					continue
				}
				at := about(catalog.RefOf(catalog.PrometheusRule.Kind, r))
				at.Severity, at.Code, at.Field = SeverityWarning, CodeRemark, fmt.Sprintf("spec.groups[%d].rules[%d]", i, j)
				what, effect := "alert "+rule.Alert, "changing or removing one has no effect as long as the other is there"
				if rule.Alert == "" {
					what, effect = "record "+rule.Record, "their samples collide, and Prometheus drops those of one as duplicates"
				}
				at.Message = fmt.Sprintf("PrometheusRule %s/%s has the same %s with the same expr and labels, so %s: remove one of them, or select one object only", before.Namespace, before.Name, what, effect)
				l.add(at, w.String())
			}
		}
	}
}

// repeatedTargets reports static targets that several ScrapeConfigs have, all of which a workload selects: each is a job
// of its own, and scrapes them. A ScrapeConfig with relabeling steps may scrape something else.
func (l *linter) repeatedTargets(w dryrun.Workload, selected []fragments.Result) {
	type scrape struct {
		of     digest // all of the scrape but its target
		target string
	}
	first := map[scrape]*v1alpha1.ScrapeConfig{}
	for _, v := range selected {
		c, is := v.Object.(*v1alpha1.ScrapeConfig)
		if !is || v.Err != nil || len(c.Spec.RelabelConfigs) > 0 {
			continue
		}
		path, said := cmp.Or(c.Spec.MetricsPath, "/metrics"), false
		of := digestOf(cmp.Or(strings.ToLower(string(c.Spec.Scheme)), "http"), path, c.Spec.Params)
		for i := range c.Spec.StaticConfigs {
			if setsScrape(c.Spec.StaticConfigs[i].Labels) {
				continue
			}
			for j, target := range c.Spec.StaticConfigs[i].Targets {
				id := scrape{of, target}
				before, again := first[id]
				if !again {
					first[id] = c
				}
				if !again || before == c || said {
					continue
				}
				said = true
				at := about(catalog.RefOf(catalog.ScrapeConfig.Kind, c))
				at.Severity, at.Code, at.Field = SeverityWarning, CodeRemark, fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j)
				at.Message = fmt.Sprintf("ScrapeConfig %s/%s has %s at path %s too, and each is a job of its own, so the target is scraped twice, and sums over its metrics are twice as high: remove one of them", before.Namespace, before.Name, target, path)
				l.add(at, w.String())
			}
		}
	}
}

// setsScrape reports whether one of the labels of targets sets a property of their scrapes, such as the path.
func setsScrape(labels map[string]string) bool {
	for name := range labels {
		if strings.HasPrefix(name, model.ReservedLabelPrefix) {
			return true
		}
	}
	return false
}

package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

var errMissingExpr = errors.New("must be set")

// checker collects the faults of a rule file, that is, everything that the rule file
// parser of Prometheus or Thanos Ruler rejects, with the field in the object. A test
// compares the results. exprs is the result of parseAll.
type checker struct {
	scheme      model.ValidationScheme
	settings    *Settings
	functions   map[string]any       // of alert templates
	effort      *templatecost.Budget // of alert templates
	queries     *limiter             // of alert templates; nil if no label is enforced
	faults      []Fault
	path        string // of the current group or rule
	group, rule string // their names, see Fault
}

func check(doc *ruleFile, exprs map[[2]int]string, s Settings) []Fault {
	c := &checker{scheme: s.scheme(), settings: &s, functions: s.templateFunctions(), effort: templatecost.ForAlerts()}
	if s.EnforcedLabel != "" {
		c.queries = &limiter{parser: parser.NewParser(s.PromQL), must: labels.MustNewMatcher(labels.MatchEqual, s.EnforcedLabel, "")}
	}
	seen := make(map[string]int, len(doc.Groups))
	for i := range doc.Groups {
		g := &doc.Groups[i]
		c.path, c.group, c.rule = "spec.groups["+strconv.Itoa(i)+"]", g.Name, ""
		if g.Name == "" {
			c.add(".name", "must be set")
		} else if first, ok := seen[g.Name]; ok {
			c.add(".name", "%q is already the name of spec.groups[%d]", g.Name, first)
		} else {
			seen[g.Name] = i
		}
		c.interval(g.Interval)
		c.duration(".query_offset", g.QueryOffset)
		c.labels(g.Labels)
		c.strategy(g.PartialResponseStrategy)
		for j := range g.Rules {
			c.checkRule(i, j, &g.Rules[j], exprs[[2]int{i, j}])
		}
	}
	return c.faults
}

func (c *checker) checkRule(i, j int, r *rule, exprFault string) {
	// Nearly all rules are valid, so names for messages are formatted on demand.
	before := len(c.faults)
	c.path, c.rule = "", ""
	switch {
	case r.Record != "" && r.Alert != "":
		c.add("", "only one of record and alert must be set, has record %q and alert %q", r.Record, r.Alert)
	case r.Record == "" && r.Alert == "":
		c.add("", "one of record and alert must be set")
	}
	if exprFault != "" {
		c.add(".expr", "%s", exprFault)
	}
	waits := c.duration(".for", r.For)
	keeps := c.duration(".keep_firing_for", r.KeepFiringFor)
	if r.Record != "" {
		c.recording(r, waits, keeps)
	}
	c.labels(r.Labels)
	for _, name := range names(r.Annotations) {
		if !c.scheme.IsValidLabelName(name) {
			c.add(faults.Key(".annotations", name), "%q is not a valid annotation name%s", name, validName(name, c.scheme))
		}
	}
	if r.Alert != "" {
		c.effort.NextAlert(templatePrefix + r.Alert)
		c.templates(".labels", r.Alert, r.Labels)
		c.templates(".annotations", r.Alert, r.Annotations)
	}
	c.name(c.faults[before:], i, j, r)
}

// recording rejects fields that recording rules do not support.
func (c *checker) recording(r *rule, waits, keeps bool) {
	if len(r.Annotations) > 0 {
		c.add(".annotations", "a recording rule has no annotations: remove them, or write alert instead of record")
	}
	if waits {
		c.add(".for", "a recording rule has no for: remove it, or write alert instead of record")
	}
	if keeps {
		c.add(".keep_firing_for", "a recording rule has no keep_firing_for: remove it, or write alert instead of record")
	}
	switch {
	case !c.scheme.IsValidMetricName(r.Record):
		c.add(".record", "%q is not a valid metric name%s", r.Record, validName(r.Record, c.scheme))
	case strings.ContainsAny(r.Record, "{}"):
		c.add(".record", "%q must not contain braces; selectors belong into expr", r.Record)
	}
}

// duration checks an optional duration and reports whether it is above zero.
func (c *checker) duration(field, text string) bool {
	if text == "" {
		return false
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		c.add(field, "%s", err.Error())
	}
	return d != 0
}

// interval checks the optional interval of a group.
func (c *checker) interval(text string) {
	if !c.duration(".interval", text) {
		return
	}
	d, _ := model.ParseDuration(text) // valid
	if err := budget.CheckInterval(time.Duration(d)); err != nil {
		c.add(".interval", "%s", err.Error())
	}
}

// strategy checks the partial response strategy. A ruler interprets an empty one as abort,
// and rejects the entire file for an unknown one. The file of a Prometheus has none.
func (c *checker) strategy(text string) {
	if text != "" && !strings.EqualFold(text, "abort") && !strings.EqualFold(text, "warn") {
		c.add(".partial_response_strategy", "must be abort or warn, is %q", text)
	}
}

func (c *checker) labels(in map[string]string) {
	for _, name := range names(in) {
		if !c.scheme.IsValidLabelName(name) || name == model.MetricNameLabel {
			c.add(faults.Key(".labels", name), "%q is not a valid label name%s", name, validName(name, c.scheme))
		}
		if !model.LabelValue(in[name]).IsValid() {
			c.add(faults.Key(".labels", name), "the value is not valid UTF-8: %q", in[name])
		}
	}
}

func (c *checker) templates(field, alert string, in map[string]string) {
	for _, name := range names(in) {
		wrong := templateFaults(alert, in[name], c.functions)
		for _, err := range wrong {
			c.add(faults.Key(field, name), "%s%s", templateReason(alert, err), c.settings.whyUndefined(err))
		}
		if len(wrong) == 0 && !simpleTemplate(in[name], c.functions) {
			if err := cmp.Or(gosyntax.Template(c.settings.program, in[name]), c.effort.Add(prelude+in[name])); err != nil {
				c.add(faults.Key(field, name), "%s", err)
			}
		}
		if c.queries == nil {
			continue
		}
		if _, err := c.queries.template(alert, in[name]); err != nil {
			c.add(faults.Key(field, name), "%s", err)
		}
	}
}

func (c *checker) add(field, format string, args ...any) {
	c.faults = append(c.faults, Fault{
		Field: c.path + field, Group: c.group, Rule: c.rule, Reason: fmt.Sprintf(format, args...),
	})
}

// name sets field and rule name of the faults of one rule.
func (c *checker) name(faults []Fault, i, j int, r *rule) {
	for k := range faults {
		f := &faults[k]
		f.Field = fmt.Sprintf("spec.groups[%d].rules[%d]%s", i, j, f.Field)
		switch {
		case r.Alert != "":
			f.Rule = fmt.Sprintf("alert %q", r.Alert)
		case r.Record != "":
			f.Rule = fmt.Sprintf("record %q", r.Record)
		}
	}
}

// names returns the sorted keys; nil for an empty map, which is the most common case.
func names(in map[string]string) []string {
	switch len(in) {
	case 0:
		return nil
	case 1:
		for k := range in {
			return []string{k}
		}
	}
	return slices.Sorted(maps.Keys(in))
}

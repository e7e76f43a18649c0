package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// severityRemarks reports matchers of a route with a value that no alert among the manifests has, although many have one
// that is almost the same.
func (l *linter) severityRemarks(note says, r *route) {
	for i, m := range r.Matchers {
		values := l.alertLabels()[m.Name]
		if values == nil {
			if meant := l.meantLabel(m.Name); meant != "" {
				note(fmt.Sprintf("%s.matchers[%d].name", r.path, i), noSuchLabel, m.Name, meant)
			}
			continue
		}
		field := fmt.Sprintf("%s.matchers[%d].value", r.path, i)
		if m.MatchType == v1alpha1.MatchRegexp || m.MatchType == "" && m.Regex {
			l.partRemark(note, field, m, values)
		}
		if !isEqual(m) || values.has[m.Value] {
			continue
		}
		if meant := l.likeValue.of(m.Name+"\x00"+m.Value, func() string { return values.like(m.Value) }); meant != "" {
			letters := ""
			if strings.EqualFold(meant, m.Value) {
				letters = " Values of labels are compared with their case"
			}
			note(field, "no alert among the manifests has %s=%q, did you mean %q?%s", m.Name, m.Value, meant, letters)
		}
	}
}

// noSuchLabel is about a label of a matcher, and the one that is meant.
const noSuchLabel = "no rule among the manifests gives alerts a label %s, did you mean %s?"

// meantLabel returns the label that nearly all alerts have of which another one is probably a misspelling; empty if there
// is none, or if rules give alerts that one.
func (l *linter) meantLabel(name string) string {
	if all := l.alertLabels(); all[name] != nil || all[model.AlertNameLabel] == nil {
		return ""
	}
	for _, known := range []string{"severity", model.AlertNameLabel, namespaceLabel} {
		if name != known && len(name) > len(known)/2 && manifest.Distance(strings.ToLower(name), known) <= 2 {
			return known
		}
	}
	return ""
}

// partRemark reports a regular expression of a matcher that matches a part of a value, and none as a whole.
func (l *linter) partRemark(note says, field string, m v1alpha1.Matcher, values *labelValues) {
	parsed, err := regexcost.Parse(m.Value)
	if err != nil || !l.affords(regexcost.Work(parsed), values.bytes) {
		return
	}
	whole, err := regexcost.Compile("^(?:" + m.Value + ")$")
	part, wrong := regexcost.Compile("(?:" + m.Value + ")")
	if err != nil || wrong != nil || slices.ContainsFunc(values.sorted, whole.MatchString) {
		return
	}
	if i := slices.IndexFunc(values.sorted, part.MatchString); i >= 0 {
		meant := ungrouped(m.Value)
		if strings.Contains(meant, "|") {
			meant = "(" + meant + ")"
		}
		if at := part.FindStringIndex(values.sorted[i]); at[0] > 0 {
			meant = ".*" + meant
		}
		note(field, "a regular expression must match the whole value, and this one matches no %s of the alerts among the manifests, only a part of %s: write %s.*", m.Name, values.sorted[i], meant)
	}
}

// labelValues are the values of a label of alerts.
type labelValues struct {
	has    map[string]bool
	sorted []string
	bytes  int // of all of them
}

// like returns the value of which another one is probably a misspelling; empty if there is none.
func (v *labelValues) like(value string) string {
	if at := slices.IndexFunc(v.sorted, func(known string) bool { return strings.EqualFold(known, value) }); at >= 0 {
		return v.sorted[at]
	}
	if longer := v.beginningWith(value); longer != "" {
		return longer
	}
	return manifest.Similar(value, v.sorted)
}

// leastPrefix is the number of characters from which the beginning of a value is an abbreviation of it.
const leastPrefix = 4

// beginningWith returns the only value of one word that another one abbreviates, as crit does critical; empty if there is none.
func (v *labelValues) beginningWith(value string) (found string) {
	if len(value) < leastPrefix || v.has[value] {
		return ""
	}
	for _, known := range v.sorted {
		if strings.HasPrefix(known, value) && strings.Trim(known, lowerCase) == "" {
			if found != "" {
				return ""
			}
			found = known
		}
	}
	return found
}

const lowerCase = "abcdefghijklmnopqrstuvwxyz"

// alertLabels returns the values of the labels that rules give to alerts, by the name of the label, without templates, and
// the names of the alerts.
func (l *linter) alertLabels() map[string]*labelValues {
	if l.labels != nil {
		return l.labels
	}
	l.labels = map[string]*labelValues{}
	for _, o := range l.objects.All(catalog.PrometheusRule) {
		for _, group := range o.(*v1.PrometheusRule).Spec.Groups {
			for i := range group.Rules {
				rule := &group.Rules[i]
				if rule.Alert == "" {
					continue
				}
				l.alertLabel(model.AlertNameLabel, rule.Alert)
				for name, value := range rule.Labels {
					l.alertLabel(name, value)
				}
			}
		}
	}
	for _, values := range l.labels {
		slices.Sort(values.sorted)
	}
	return l.labels
}

// alertLabel records a value of a label of alerts, unless it is a template.
func (l *linter) alertLabel(name, value string) {
	if strings.Contains(value, "{{") {
		return
	}
	values := l.labels[name]
	if values == nil {
		values = &labelValues{has: map[string]bool{}}
		l.labels[name] = values
	}
	if !values.has[value] {
		values.has[value] = true
		values.sorted, values.bytes = append(values.sorted, value), values.bytes+len(value)
	}
}

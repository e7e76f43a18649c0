package lint

import (
	"fmt"
	"maps"
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
		if m.MatchType == v1alpha1.MatchRegexp || m.MatchType == "" && m.Regex {
			partRemark(note, fmt.Sprintf("%s.matchers[%d].value", r.path, i), m, slices.Sorted(maps.Keys(values)))
		}
		if !isEqual(m) || len(values) == 0 || values[m.Value] {
			continue
		}
		known := slices.Sorted(maps.Keys(values))
		meant := manifest.Similar(m.Value, known)
		if at := slices.IndexFunc(known, func(v string) bool { return strings.EqualFold(v, m.Value) }); at >= 0 {
			meant = known[at]
		}
		if meant != "" {
			note(fmt.Sprintf("%s.matchers[%d].value", r.path, i), "no alert among the manifests has %s=%q, did you mean %q? Values of labels are compared with their case", m.Name, m.Value, meant)
		}
	}
}

// partRemark reports a regular expression of a matcher that matches a part of a value, and none as a whole.
func partRemark(note says, field string, m v1alpha1.Matcher, values []string) {
	whole, err := regexcost.Compile("^(?:" + m.Value + ")$")
	part, wrong := regexcost.Compile("(?:" + m.Value + ")")
	if err != nil || wrong != nil || slices.ContainsFunc(values, whole.MatchString) {
		return
	}
	if i := slices.IndexFunc(values, part.MatchString); i >= 0 {
		meant := ungrouped(m.Value)
		if strings.Contains(meant, "|") {
			meant = "(" + meant + ")"
		}
		if at := part.FindStringIndex(values[i]); at[0] > 0 {
			meant = ".*" + meant
		}
		note(field, "a regular expression must match the whole value, and this one matches no %s of the alerts among the manifests, only a part of %s: write %s.*", m.Name, values[i], meant)
	}
}

// alertLabels returns the values of the labels that rules give to alerts, by the name of the label, without templates, and
// the names of the alerts.
func (l *linter) alertLabels() map[string]map[string]bool {
	if l.labels != nil {
		return l.labels
	}
	l.labels = map[string]map[string]bool{}
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
	return l.labels
}

// alertLabel records a value of a label of alerts, unless it is a template.
func (l *linter) alertLabel(name, value string) {
	if strings.Contains(value, "{{") {
		return
	}
	if l.labels[name] == nil {
		l.labels[name] = map[string]bool{}
	}
	l.labels[name][value] = true
}

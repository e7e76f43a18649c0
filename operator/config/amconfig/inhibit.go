package amconfig

import (
	"fmt"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// utf8EqualSince is the first version whose inhibition rules support UTF-8 label names in
// equal; matchers and groupBy have supported them for longer.
const utf8EqualSince = "alertmanager=0.28.0"

// InhibitRule mutes alerts that match the target while an alert matches the source.
type InhibitRule struct {
	// SourceMatch and SourceMatchRE are the matchers for versions before 0.22.0, by label name.
	SourceMatch   map[string]string `yaml:"source_match,omitempty"`
	SourceMatchRE map[string]string `yaml:"source_match_re,omitempty"`
	// SourceMatchers are of the form `name="value"`.
	SourceMatchers []string `yaml:"source_matchers,omitempty" since:"alertmanager=0.22.0"`
	// TargetMatch and TargetMatchRE are the matchers for versions before 0.22.0, by label name.
	TargetMatch   map[string]string `yaml:"target_match,omitempty"`
	TargetMatchRE map[string]string `yaml:"target_match_re,omitempty"`
	// TargetMatchers are of the form `name="value"`.
	TargetMatchers []string `yaml:"target_matchers,omitempty" since:"alertmanager=0.22.0"`
	// Equal lists labels that must have the same value on both sides.
	Equal []string `yaml:"equal,omitempty"`
}

// checkInhibitRules limits the number of rules. Alertmanager compares each alert of all namespaces with all of them, and keeps
// for each rule the alerts of its namespace, before it takes the next alert.
func checkInhibitRules(rules []v1alpha1.InhibitRule) error {
	if err := budget.Elements(v1alpha1.AlertmanagerConfigKind, "spec.inhibitRules", len(rules), budget.InhibitRules); err != nil {
		return err
	}
	words := 0
	for i := range rules {
		if words += len(rules[i].SourceMatch) + len(rules[i].TargetMatch) + len(rules[i].Equal); words > budget.InhibitLabels {
			return faults.At("spec.inhibitRules", fmt.Errorf("sourceMatch, targetMatch and equal have more than %d elements in all rules, the limit of one %s", budget.InhibitLabels, v1alpha1.AlertmanagerConfigKind))
		}
	}
	return nil
}

// inhibitRule converts a rule. Errors, joined, start with the path below the rule.
func (c *compiler) inhibitRule(in *v1alpha1.InhibitRule) (InhibitRule, error) {
	var errs faults.List
	source, err := c.inhibitMatchers("sourceMatch", in.SourceMatch)
	errs.Add("", err)
	target, err := c.inhibitMatchers("targetMatch", in.TargetMatch)
	errs.Add("", err)
	for i, label := range in.Equal {
		errs.Add(faults.Index("equal", i), c.checkEqual(label))
	}
	return InhibitRule{
		SourceMatch: source.Equal, SourceMatchRE: source.Regexp, SourceMatchers: source.List,
		TargetMatch: target.Equal, TargetMatchRE: target.Regexp, TargetMatchers: target.List,
		Equal: in.Equal,
	}, errs.Err()
}

func (c *compiler) checkEqual(label string) error {
	if err := checkLabelName(label, c.labels); err != nil {
		return err
	}
	if !c.target.AtLeast(utf8EqualSince) && !model.LegacyValidation.IsValidLabelName(label) {
		return fmt.Errorf("%q is not a valid label name here before Alertmanager 0.28.0", label)
	}
	return nil
}

// inhibitMatchers converts one side of a rule, which is the given field of the object.
func (c *compiler) inhibitMatchers(field string, in []v1alpha1.Matcher) (matchers, error) {
	var errs faults.List
	for i := range in {
		errs.Add(faults.Index(field, i), checkMatcher(&in[i]))
	}
	if errs.Any() {
		return matchers{}, errs.Err()
	}
	out, err := c.matchersFrom(in, nil)
	errs.Add(field, err)
	return out, errs.Err()
}

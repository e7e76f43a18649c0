package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// bothSides is the remark about an inhibition rule whose two sides match the same alerts.
const bothSides = "is the same as %s, so the rule mutes nothing: Alertmanager lets no alert that matches both mute another that matches both; name the alerts to mute here, such as severity: warning beside critical"

// withoutEqual is the remark about an inhibition rule that compares no labels of the two alerts.
const withoutEqual = "is not set, so one alert of %s mutes all alerts of %s, whatever they are about; name the labels that both have to share, such as [alertname, namespace]"

// inhibitionRemarks reports remarks about the inhibition rules of an AlertmanagerConfig.
func inhibitionRemarks(always, note says, c *v1alpha1.AlertmanagerConfig) {
	for i, rule := range c.Spec.InhibitRules {
		path := fmt.Sprintf("spec.inhibitRules[%d]", i)
		textRemarks(always, path+".sourceMatch", rule.SourceMatch)
		textRemarks(always, path+".targetMatch", rule.TargetMatch)
		if len(rule.SourceMatch) == 0 || len(rule.TargetMatch) == 0 {
			continue
		}
		if slices.Equal(sides(rule.SourceMatch), sides(rule.TargetMatch)) {
			always(path+".targetMatch", bothSides, "sourceMatch")
		} else if len(rule.Equal) == 0 {
			note(path+".equal", withoutEqual, "sourceMatch", "targetMatch")
		}
	}
}

// sides returns the matchers of one side of a rule in an order that does not depend on how they are written.
func sides(matchers []v1alpha1.Matcher) (out []string) {
	for _, m := range matchers {
		operator := string(m.MatchType)
		switch {
		case operator == "" && m.Regex:
			operator = string(v1alpha1.MatchRegexp)
		case operator == "":
			operator = string(v1alpha1.MatchEqual)
		}
		out = append(out, fmt.Sprintf("%s %s %q", m.Name, operator, m.Value))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inhibitionsOfFile is like inhibitionRemarks for the file of an Alertmanager, with the lines. A rule whose source are alerts
// of some names, such as one for a maintenance, may be meant to mute all others.
func inhibitionsOfFile(file *yaml.Node, say, note saysAt) {
	list := find(file, []string{"inhibit_rules"})
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, rule := range list.Content {
		source, target := sidesOfFile(rule, "source"), sidesOfFile(rule, "target")
		equal := find(rule, []string{"equal"})
		switch at := fmt.Sprintf("inhibit_rules[%d]", i); {
		case len(source) == 0 || len(target) == 0:
		case slices.Equal(source, target):
			say(at, "the target "+fmt.Sprintf(bothSides, "the source"), rule.Line)
		case equal != nil && (equal.Kind != yaml.SequenceNode || len(equal.Content) > 0) || find(rule, []string{"<<"}) != nil || slices.ContainsFunc(source, ofNames):
		default:
			note(at+".equal", fmt.Sprintf(withoutEqual, "the source", "the target"), rule.Line)
		}
	}
}

// ofNames reports whether a matcher of sidesOfFile is one for alerts of some names.
func ofNames(matcher string) bool {
	return strings.HasPrefix(matcher, model.AlertNameLabel+"=") || strings.HasPrefix(matcher, "_match "+model.AlertNameLabel+" ") || strings.HasPrefix(matcher, "_match_re "+model.AlertNameLabel+" ")
}

// sidesOfFile returns the matchers of one side of a rule, in each form that Alertmanager reads: source_matchers,
// source_match and source_match_re, or those of the target.
func sidesOfFile(rule *yaml.Node, side string) (out []string) {
	if list := find(rule, []string{side + "_matchers"}); list != nil && list.Kind == yaml.SequenceNode {
		for _, matcher := range list.Content {
			parsed, err := labels.ParseMatchers(matcher.Value)
			if err != nil {
				out = append(out, matcher.Value) // Alertmanager may read it all the same
			}
			for _, m := range parsed {
				out = append(out, m.String())
			}
		}
	}
	for _, form := range []string{"_match", "_match_re"} {
		values := find(rule, []string{side + form})
		if values == nil || values.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(values.Content); i += 2 {
			out = append(out, fmt.Sprintf("%s %s %q", form, values.Content[i].Value, values.Content[i+1].Value))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

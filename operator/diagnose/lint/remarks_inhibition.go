package lint

import (
	"fmt"
	"slices"

	"github.com/prometheus/alertmanager/pkg/labels"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// bothSides is the remark about an inhibition rule whose two sides match the same alerts.
const bothSides = "is the same as %s, so the rule mutes nothing: Alertmanager lets no alert that matches both mute another that matches both; name the alerts to mute here, such as severity: warning beside critical"

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
			note(path+".equal", "is not set, so one alert of sourceMatch mutes all alerts of targetMatch, whatever they are about; name the labels that both have to share, such as [alertname, namespace]")
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

// inhibitionsOfFile is like inhibitionRemarks for the file of an Alertmanager, with the lines.
func inhibitionsOfFile(file *yaml.Node, say func(at, value string, line int)) {
	list := find(file, []string{"inhibit_rules"})
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, rule := range list.Content {
		source, target := sidesOfFile(rule, "source"), sidesOfFile(rule, "target")
		if len(source) > 0 && slices.Equal(source, target) {
			say(fmt.Sprintf("inhibit_rules[%d]", i), "the target "+fmt.Sprintf(bothSides, "the source"), rule.Line)
		}
	}
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

package routing

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/prometheus/common/model"
)

// InhibitRule is a rule that inhibits the alert while another one fires.
type InhibitRule struct {
	Path           string   `json:"path"` // path in the configuration, for example "inhibit_rules[0]"
	Name           string   `json:"name,omitempty"`
	Origin         Origin   `json:"origin"`
	SourceMatchers []string `json:"sourceMatchers"` // matchers for the other alert
	TargetMatchers []string `json:"targetMatchers"` // matchers for this alert
	// Equal maps the labels that must be equal in both alerts to the values of this alert. The value is empty if the
	// label is missing, and must then be missing in the other alert, too.
	Equal map[string]string `json:"equal,omitempty"`
	// BothSides is true if this alert also matches the source matchers. Alerts that match both sides do not inhibit it.
	BothSides bool `json:"bothSides,omitempty"`
}

// inhibitRules returns the rules whose target matches the alert.
func (w walker) inhibitRules() []InhibitRule {
	out := []InhibitRule{}
	for i, raw := range w.loaded.InhibitRules {
		rule := inhibit.NewInhibitRule(raw)
		if !rule.TargetMatchers.Matches(w.Labels) {
			continue
		}
		out = append(out, w.inhibitRule(i, rule))
	}
	return out
}

// inhibitRule returns the description of a rule.
func (w walker) inhibitRule(i int, rule *inhibit.InhibitRule) InhibitRule {
	out := InhibitRule{
		Path: fmt.Sprintf("inhibit_rules[%d]", i), Name: rule.Name, Origin: w.origins.rule(i),
		SourceMatchers: texts(rule.SourceMatchers), TargetMatchers: texts(rule.TargetMatchers),
		BothSides: rule.SourceMatchers.Matches(w.Labels),
	}
	for _, label := range slices.Sorted(maps.Keys(rule.Equal)) {
		if out.Equal == nil {
			out.Equal = map[string]string{}
		}
		out.Equal[string(label)] = string(w.Labels[model.LabelName(label)])
	}
	return out
}

// texts returns matchers in the notation of Alertmanager, sorted.
func texts(all labels.Matchers) []string {
	out := []string{}
	for _, m := range all {
		out = append(out, m.String())
	}
	slices.Sort(out)
	return out
}

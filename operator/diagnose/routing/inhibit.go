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
		if w.over() {
			break
		}
		rule := inhibit.NewInhibitRule(raw)
		if !w.matches(rule.TargetMatchers) {
			continue
		}
		out = append(out, w.inhibitRule(i, rule))
	}
	return out
}

// matches reports whether matchers match the labels, as far as the limits allow to compare them.
func (w walker) matches(all labels.Matchers) bool {
	for _, m := range all {
		if !w.affords(m, w.Labels) || !(labels.Matchers{m}).Matches(w.Labels) {
			return false
		}
	}
	return true
}

// ruleValues is the number of values of an [InhibitRule] with the kind of its origin.
const ruleValues = 10

// inhibitRule returns the description of a rule.
func (w walker) inhibitRule(i int, rule *inhibit.InhibitRule) InhibitRule {
	out := InhibitRule{
		Path: fmt.Sprintf("inhibit_rules[%d]", i), Name: rule.Name, Origin: w.origins.rule(i),
		SourceMatchers: texts(rule.SourceMatchers), TargetMatchers: texts(rule.TargetMatchers),
		BothSides: w.matches(rule.SourceMatchers),
	}
	w.grow(ruleValues+len(rule.Equal)+len(rule.SourceMatchers)+len(rule.TargetMatchers), out.Name, out.Origin.Namespace, out.Origin.Name)
	w.grow(0, slices.Concat(out.SourceMatchers, out.TargetMatchers)...)
	for _, label := range slices.Sorted(maps.Keys(rule.Equal)) {
		if out.Equal == nil {
			out.Equal = map[string]string{}
		}
		out.Equal[string(label)] = string(w.Labels[model.LabelName(label)])
		w.grow(0, string(label), out.Equal[string(label)])
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

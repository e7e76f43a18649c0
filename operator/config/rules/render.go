package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ruleFile is a rule file. The fields of the three structs are in the alphabetical order
// of their keys, so that the text equals the encoding via JSON and a sorted map; a test
// compares the two. Package gate writes them as the YAML library behind sigs.k8s.io/yaml
// does. Lines that are wrapped differently would rewrite every ConfigMap when taking over
// a cluster from another operator.
type ruleFile struct {
	Groups []group `yaml:"groups,omitempty"`
}

type group struct {
	Interval                string     `yaml:"interval,omitempty"`
	Labels                  gate.Texts `yaml:"labels,omitempty"`
	Limit                   *int       `yaml:"limit,omitempty"`
	Name                    string     `yaml:"name"`
	PartialResponseStrategy string     `yaml:"partial_response_strategy,omitempty"`
	QueryOffset             string     `yaml:"query_offset,omitempty"`
	Rules                   []rule     `yaml:"rules,omitempty"`
}

type rule struct {
	Alert         string     `yaml:"alert,omitempty"`
	Annotations   gate.Texts `yaml:"annotations,omitempty"`
	Expr          any        `yaml:"expr"` // int32 or string, as in the object
	For           string     `yaml:"for,omitempty"`
	KeepFiringFor string     `yaml:"keep_firing_for,omitempty"`
	Labels        gate.Texts `yaml:"labels,omitempty"`
	Record        string     `yaml:"record,omitempty"`
}

// ruleFileOf copies the spec without keys that the target does not support. Maps are
// shared with the spec: replace them, do not modify them.
//
// Empty durations are omitted: the CRD allows them, but Prometheus rejects the entire file.
func ruleFileOf(spec *v1.PrometheusRuleSpec, s Settings) (ruleFile, []gate.Dropped) {
	var dropped []gate.Dropped
	drop := func(key keySet, format string, at ...any) bool {
		if s.unknown&key == 0 {
			return false
		}
		dropped = append(dropped, gate.Dropped{Path: fmt.Sprintf(format, at...), Need: ">= " + need(key, s.Thanos)})
		return true
	}

	doc := ruleFile{Groups: make([]group, len(spec.Groups))}
	for i := range spec.Groups {
		in, out := &spec.Groups[i], &doc.Groups[i]
		out.Name = in.Name
		out.Interval = string(in.Interval)
		if s.Thanos {
			out.PartialResponseStrategy = in.PartialResponseStrategy
		}
		if len(in.Labels) > 0 && !drop(keyGroupLabels, "spec.groups[%d].labels", i) {
			out.Labels = in.Labels
		}
		if in.Limit != nil && !drop(keyLimit, "spec.groups[%d].limit", i) {
			out.Limit = in.Limit
		}
		if in.QueryOffset != "" && !drop(keyQueryOffset, "spec.groups[%d].query_offset", i) {
			out.QueryOffset = string(in.QueryOffset)
		}
		out.Rules = make([]rule, len(in.Rules))
		for j := range in.Rules {
			out.Rules[j] = ruleOf(&in.Rules[j])
			if k := in.Rules[j].KeepFiringFor; k != "" && !drop(keyKeepFiringFor, "spec.groups[%d].rules[%d].keep_firing_for", i, j) {
				out.Rules[j].KeepFiringFor = string(k)
			}
		}
	}
	return doc, dropped
}

func ruleOf(in *v1.Rule) rule {
	out := rule{
		Alert:       in.Alert,
		Annotations: in.Annotations,
		Expr:        in.Expr.StrVal,
		For:         string(in.For),
		Labels:      in.Labels,
		Record:      in.Record,
	}
	if in.Expr.Type == intstr.Int {
		out.Expr = in.Expr.IntVal
	}
	return out
}

func (d *ruleFile) render() (string, error) {
	text, _, err := gate.Marshal(d, gate.Target{})
	return string(text), err
}

package rules

import (
	"fmt"
	"maps"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/prometheus/promql/parser"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// functionGate holds the first versions that support a function. The library that checks rules is
// newer than most targets, and a target rejects all rule files because of one unknown function.
type functionGate struct {
	name     string
	template bool // of alert templates; otherwise of PromQL
	since
	renamed string // the name from these versions on; the target supports name in older ones
}

// formerFunctions are functions that the library does not support anymore, and older targets do.
var formerFunctions = map[string]*parser.Function{
	"holt_winters": {
		Name: "holt_winters", ReturnType: parser.ValueTypeVector,
		ArgTypes: []parser.ValueType{parser.ValueTypeMatrix, parser.ValueTypeScalar, parser.ValueTypeScalar},
	},
}

func init() { maps.Copy(parser.Functions, formerFunctions) } // the parser has no option for it

// functionGates lists the functions that are newer than Prometheus 2.39 and Thanos 0.29.
// A Thanos Ruler supports those of the Prometheus library it is built with, and
// experimental ones from 0.39.0 on; 0.43.0 means none up to 0.42. A new function needs a
// row. A test compares the table with the programs.
var functionGates = [...]functionGate{
	{name: "histogram_count", since: at("2.40.0", "0.30.0")},
	{name: "histogram_sum", since: at("2.40.0", "0.30.0")},
	{name: "histogram_fraction", since: at("2.40.0", "0.30.0")},
	{name: "histogram_stddev", since: at("2.47.0", "0.33.0")},
	{name: "histogram_stdvar", since: at("2.47.0", "0.33.0")},
	{name: "mad_over_time", since: at("2.49.0", "0.39.0")},
	{name: "sort_by_label", since: at("2.49.0", "0.39.0")},
	{name: "sort_by_label_desc", since: at("2.49.0", "0.39.0")},
	{name: "histogram_avg", since: at("2.51.0", "0.35.0")},
	{name: "limitk", since: at("2.54.0", "0.39.0")},
	{name: "limit_ratio", since: at("2.54.0", "0.39.0")},
	{name: "info", since: at("2.55.0", "0.39.0")},
	{name: "holt_winters", since: at("3.0.0", "0.39.0"), renamed: "double_exponential_smoothing"},
	{name: "double_exponential_smoothing", since: at("3.0.0", "0.39.0")},
	{name: "ts_of_max_over_time", since: at("3.5.0", "0.40.0")},
	{name: "ts_of_min_over_time", since: at("3.5.0", "0.40.0")},
	{name: "ts_of_last_over_time", since: at("3.5.0", "0.40.0")},
	{name: "now", template: true, since: at("3.6.0", "0.40.0")},
	{name: "toDuration", template: true, since: at("3.6.0", "0.40.0")},
	{name: "first_over_time", since: at("3.7.0", "0.41.0")},
	{name: "ts_of_first_over_time", since: at("3.7.0", "0.41.0")},
	{name: "urlQueryEscape", template: true, since: at("3.8.0", "0.41.0")},
	{name: "histogram_quantiles", since: at("3.11.0", "0.43.0")},
	{name: "start", since: at("3.12.0", "0.43.0")},
	{name: "end", since: at("3.12.0", "0.43.0")},
	{name: "range", since: at("3.12.0", "0.43.0")},
	{name: "step", since: at("3.12.0", "0.43.0")},
	{name: "min_of", since: at("3.13.0", "0.43.0")},
	{name: "max_of", since: at("3.13.0", "0.43.0")},
}

// functionSet is a set of rows of functionGates.
type functionSet uint32

// lackingIn returns the functions that version v does not support.
func lackingIn(v *semver.Version, thanos bool) functionSet {
	var out functionSet
	for i, f := range functionGates {
		if v.LessThan(f.of(thanos)) == (f.renamed == "") {
			out |= 1 << i
		}
	}
	return out
}

// former are the functions that newer versions have removed. Most targets lack all of them.
var former = func() (out functionSet) {
	for i, f := range functionGates {
		if f.renamed != "" {
			out |= 1 << i
		}
	}
	return out
}()

// each yields the rows of the set.
func (set functionSet) each(yield func(functionGate) bool) {
	for i, f := range functionGates {
		if set&(1<<i) != 0 && !yield(f) {
			return
		}
	}
}

// Former reports the functions in a rule object that newer targets do not support, for settings of no version:
// they allow all functions that any version supports.
//
// Errors: those of Compile for the newest version.
func Former(r *v1.PrometheusRule, s Settings) error {
	for i := range r.Spec.Groups {
		for j := range r.Spec.Groups[i].Rules {
			if mentionsFormer(r.Spec.Groups[i].Rules[j].Expr.String()) {
				s.lacking |= former
				return Compile(r, s).Err
			}
		}
	}
	return nil
}

// checkFunctions reports the first function of an expression that the target does not support.
func (s *Settings) checkFunctions(expr parser.Node, text string) error {
	if s.lacking&^former == 0 && !mentionsFormer(text) {
		return nil
	}
	name := ""
	switch n := expr.(type) {
	case *parser.Call:
		name = n.Func.Name
	case *parser.AggregateExpr:
		name = n.Op.String()
	}
	for f := range s.lacking.each {
		switch {
		case f.template || f.name != name:
		case f.renamed != "":
			return fmt.Errorf("function %q: its name is %s since %s%s", name, f.renamed, f.of(s.Thanos), s.experiment())
		default:
			return fmt.Errorf("function %q needs >= %s%s", name, f.of(s.Thanos), formerName(name))
		}
	}
	for child := range parser.ChildrenIter(expr) {
		if err := s.checkFunctions(child, text); err != nil {
			return err
		}
	}
	return nil
}

// mentionsFormer reports whether an expression may call a removed function.
func mentionsFormer(text string) bool {
	for name := range formerFunctions {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// formerName returns an addition to an error about a function that older targets call otherwise.
func formerName(name string) string {
	for f := range former.each {
		if f.renamed == name {
			return "; before, its name is " + f.name
		}
	}
	return ""
}

// experiment returns an addition to an error about a function whose replacement is experimental.
func (s *Settings) experiment() string {
	if s.PromQL.EnableExperimentalFunctions {
		return ""
	}
	return fmt.Sprintf(", which needs spec.enableFeatures: [%s] of the workload", experimentalFunctions)
}

// templateFunctions returns the functions available to alert templates of the target.
func (s *Settings) templateFunctions() map[string]any {
	known := templateFunctions()
	shared := true
	for f := range s.lacking.each {
		if !f.template {
			continue
		}
		if shared {
			known, shared = maps.Clone(known), false
		}
		delete(known, f.name)
	}
	return known
}

// whyUndefined returns an addition to a template error: the version that supports the function.
func (s *Settings) whyUndefined(err error) string {
	for f := range s.lacking.each {
		if f.template && strings.HasSuffix(err.Error(), fmt.Sprintf("function %q not defined", f.name)) {
			return "; it needs >= " + f.of(s.Thanos).String()
		}
	}
	return ""
}

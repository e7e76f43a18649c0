package rules

import (
	"fmt"
	"maps"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/prometheus/promql/parser"
)

// functionGate holds the first versions that support a function. The library that checks rules is
// newer than most targets, and a target rejects all rule files because of one unknown function.
type functionGate struct {
	name     string
	template bool // of alert templates; otherwise of PromQL
	since
}

// functionGates lists the functions that are newer than Prometheus 2.39 and Thanos 0.29.
// A Thanos Ruler supports those of the Prometheus library it is built with, and
// experimental ones from 0.39.0 on; 0.43.0 means none up to 0.42. A new function needs a
// row. A test compares the table with the programs.
var functionGates = [...]functionGate{
	{"histogram_count", false, at("2.40.0", "0.30.0")},
	{"histogram_sum", false, at("2.40.0", "0.30.0")},
	{"histogram_fraction", false, at("2.40.0", "0.30.0")},
	{"histogram_stddev", false, at("2.47.0", "0.33.0")},
	{"histogram_stdvar", false, at("2.47.0", "0.33.0")},
	{"mad_over_time", false, at("2.49.0", "0.39.0")},
	{"sort_by_label", false, at("2.49.0", "0.39.0")},
	{"sort_by_label_desc", false, at("2.49.0", "0.39.0")},
	{"histogram_avg", false, at("2.51.0", "0.35.0")},
	{"limitk", false, at("2.54.0", "0.39.0")},
	{"limit_ratio", false, at("2.54.0", "0.39.0")},
	{"info", false, at("2.55.0", "0.39.0")},
	{"double_exponential_smoothing", false, at("3.0.0", "0.39.0")},
	{"ts_of_max_over_time", false, at("3.5.0", "0.40.0")},
	{"ts_of_min_over_time", false, at("3.5.0", "0.40.0")},
	{"ts_of_last_over_time", false, at("3.5.0", "0.40.0")},
	{"now", true, at("3.6.0", "0.40.0")},
	{"toDuration", true, at("3.6.0", "0.40.0")},
	{"first_over_time", false, at("3.7.0", "0.41.0")},
	{"ts_of_first_over_time", false, at("3.7.0", "0.41.0")},
	{"urlQueryEscape", true, at("3.8.0", "0.41.0")},
	{"histogram_quantiles", false, at("3.11.0", "0.43.0")},
	{"start", false, at("3.12.0", "0.43.0")},
	{"end", false, at("3.12.0", "0.43.0")},
	{"range", false, at("3.12.0", "0.43.0")},
	{"step", false, at("3.12.0", "0.43.0")},
	{"min_of", false, at("3.13.0", "0.43.0")},
	{"max_of", false, at("3.13.0", "0.43.0")},
}

// functionSet is a set of rows of functionGates.
type functionSet uint32

// lackingIn returns the functions that version v does not support.
func lackingIn(v *semver.Version, thanos bool) functionSet {
	var out functionSet
	for i, f := range functionGates {
		if v.LessThan(f.of(thanos)) {
			out |= 1 << i
		}
	}
	return out
}

// each yields the rows of the set.
func (set functionSet) each(yield func(functionGate) bool) {
	for i, f := range functionGates {
		if set&(1<<i) != 0 && !yield(f) {
			return
		}
	}
}

// checkFunctions reports the first function of an expression that the target does not support.
func (s *Settings) checkFunctions(expr parser.Node) error {
	if s.lacking == 0 {
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
		if !f.template && f.name == name {
			return fmt.Errorf("function %q needs >= %s", name, f.of(s.Thanos))
		}
	}
	for child := range parser.ChildrenIter(expr) {
		if err := s.checkFunctions(child); err != nil {
			return err
		}
	}
	return nil
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

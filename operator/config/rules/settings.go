package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
)

// Settings are the settings of a workload that affect the compilation of rule objects. The
// zero value is suitable for admission: newest target, legacy names, nothing enforced.
type Settings struct {
	// EnforcedLabel is the label that is set to the object's namespace in every rule and
	// selector; empty if nothing is enforced.
	EnforcedLabel string

	// Excluded lists objects to which enforcement does not apply. For resolves it.
	Excluded []Exclusion

	// UTF8Names allows any non-empty UTF-8 string as metric and label name. Otherwise,
	// the rules of Prometheus 2.x apply.
	UTF8Names bool

	// PromQL holds the optional language features that the target supports.
	PromQL parser.Options

	// Thanos means that the file is for a Thanos Ruler, the only program that supports
	// partial_response_strategy. It is part of Key, so a Prometheus and a ruler that
	// select the same object have separate fragments.
	Thanos bool

	// unknown and lacking are the keys and functions that the target's version does not support.
	unknown keySet
	lacking functionSet
	newer   syntaxSet // expression forms that it does not support

	program gate.Target // the program and its version, which is nil for the newest
	forms   uint8       // of regular expressions and templates that it does not parse, see gosyntax
}

// Exclusion identifies rule objects for which the namespace label is not enforced.
type Exclusion struct {
	Namespace string
	Name      string // empty: all in the namespace
}

// PrometheusSettings returns the settings of a Prometheus server of version v, which is
// the parsed spec.version or the default.
func PrometheusSettings(p *v1.Prometheus, v *semver.Version) Settings {
	s := Settings{
		EnforcedLabel: p.Spec.EnforcedNamespaceLabel,
		Excluded:      exclusions(p.Spec.ExcludedFromEnforcement, p.Spec.PrometheusRulesExcludedFromEnforce),
		PromQL:        promQLOptions(p.Spec.EnableFeatures),
	}
	s.target(gate.Release(v))
	return s
}

// target sets what version v of the program supports.
func (s *Settings) target(v *semver.Version) {
	s.UTF8Names = !v.LessThan(utf8Since.of(s.Thanos))
	s.unknown, s.lacking, s.newer = unknownTo(v, s.Thanos), lackingIn(v, s.Thanos), syntaxNewerThan(v, s.Thanos)
	s.program = gate.Target{Program: gate.Prometheus, Version: v}
	if s.Thanos {
		s.program.Program = gate.Thanos
	}
	s.forms = gosyntax.Lacking(s.program)
}

// ThanosRulerSettings returns the settings of a Thanos Ruler of version v, which is the parsed
// spec.version or the default. The only language feature that can be enabled in a ruler is
// experimental functions, and only in versions that are started with --enable-feature.
func ThanosRulerSettings(t *v1.ThanosRuler, v *semver.Version) Settings {
	v = gate.Release(v)
	s := Settings{
		EnforcedLabel: t.Spec.EnforcedNamespaceLabel,
		Excluded:      exclusions(t.Spec.ExcludedFromEnforcement, t.Spec.PrometheusRulesExcludedFromEnforce),
		Thanos:        true,
	}
	s.target(v)
	// Each element is passed as a separate flag, and a ruler compares it literally.
	if !v.LessThan(thanosFeaturesSince) {
		s.PromQL.EnableExperimentalFunctions = slices.Contains(t.Spec.EnableFeatures, experimentalFunctions)
	}
	return s
}

// experimentalFunctions is a feature of Prometheus and Thanos Ruler.
const experimentalFunctions = "promql-experimental-functions"

// optionalPromQL holds the features that extend the language.
var optionalPromQL = map[string]func(*parser.Options){
	experimentalFunctions:             func(o *parser.Options) { o.EnableExperimentalFunctions = true },
	"promql-duration-expr":            func(o *parser.Options) { o.ExperimentalDurationExpr = true },
	"promql-extended-range-selectors": func(o *parser.Options) { o.EnableExtendedRangeSelectors = true },
	"promql-binop-fill-modifiers":     func(o *parser.Options) { o.EnableBinopFillModifiers = true },
}

// AllPromQL returns options with all language features enabled.
func AllPromQL() parser.Options {
	var o parser.Options
	for _, enable := range optionalPromQL {
		enable(&o)
	}
	return o
}

// promQLOptions converts spec.enableFeatures (the values of Prometheus' --enable-feature)
// to parser options. It ignores other features.
func promQLOptions(features []string) parser.Options {
	var o parser.Options
	for _, entry := range features {
		// The list is joined with commas, so an entry may contain several.
		for f := range strings.SplitSeq(entry, ",") {
			if enable := optionalPromQL[strings.TrimSpace(f)]; enable != nil {
				enable(&o)
			}
		}
	}
	return o
}

// For narrows the settings to one object. It resolves exclusions, so that workloads that
// only differ in exclusions of other objects have equal keys.
func (s Settings) For(namespace, name string) Settings {
	for _, x := range s.Excluded {
		if x.Namespace == namespace && (x.Name == "" || x.Name == name) {
			s.EnforcedLabel = ""
			break
		}
	}
	s.Excluded = nil
	return s
}

// Key identifies the settings: with equal keys, every object compiles to equal fragments.
func (s Settings) Key() string {
	b := make([]byte, 0, 64)
	for _, on := range []bool{
		s.UTF8Names, s.Thanos,
		s.PromQL.EnableExperimentalFunctions, s.PromQL.ExperimentalDurationExpr,
		s.PromQL.EnableExtendedRangeSelectors, s.PromQL.EnableBinopFillModifiers,
	} {
		if on {
			b = append(b, '1')
		} else {
			b = append(b, '0')
		}
	}
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(s.unknown), 16)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(s.lacking), 16)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(s.newer), 16)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(s.forms), 16)
	if s.EnforcedLabel == "" {
		return string(b) // exclusions have no effect without a label
	}
	b = append(b, '/')
	b = strconv.AppendQuote(b, s.EnforcedLabel)
	for _, x := range sorted(s.Excluded) {
		b = append(b, '/')
		b = strconv.AppendQuote(b, x.Namespace)
		b = append(b, '.')
		b = strconv.AppendQuote(b, x.Name)
	}
	return string(b)
}

// scheme returns the validation scheme for names.
func (s Settings) scheme() model.ValidationScheme {
	if s.UTF8Names {
		return model.UTF8Validation
	}
	return model.LegacyValidation
}

// exclusions merges the two lists of a workload. Entries of other kinds or without a
// namespace have no effect.
func exclusions(refs []v1.ObjectReference, deprecated []v1.PrometheusRuleExcludeConfig) []Exclusion {
	var out []Exclusion
	for _, r := range refs {
		group := r.Group == "" || r.Group == v1.GroupName
		if group && r.Resource == "prometheusrules" && r.Namespace != "" {
			out = append(out, Exclusion{Namespace: r.Namespace, Name: r.Name})
		}
	}
	for _, d := range deprecated {
		if d.RuleNamespace != "" {
			out = append(out, Exclusion{Namespace: d.RuleNamespace, Name: d.RuleName})
		}
	}
	return out
}

func sorted(in []Exclusion) []Exclusion {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b Exclusion) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return slices.Compact(out)
}

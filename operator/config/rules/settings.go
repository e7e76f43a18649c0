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
)

// Settings is what of an owner matters when a rule object is compiled. The zero
// value suits admission: newest target, legacy names, nothing enforced.
type Settings struct {
	// EnforcedLabel is the label that carries the object's namespace in every
	// rule and every selector. Empty: nothing is enforced.
	EnforcedLabel string

	// Excluded are the objects the enforcement passes over. For resolves it.
	Excluded []Exclusion

	// UTF8Names allows any non-empty UTF-8 string as metric and label name;
	// otherwise the names of Prometheus 2.x.
	UTF8Names bool

	// PromQL says which optional parts of the language the target understands.
	PromQL parser.Options

	// Thanos means the file is for a Thanos Ruler, which alone knows
	// partial_response_strategy. It is part of Key, so a Prometheus and a ruler that
	// select one object each have a fragment of their own.
	Thanos bool

	// unknown are the keys, and lacking the functions, that the target's version has
	// not learned yet.
	unknown keySet
	lacking functionSet
	newer   syntaxSet // forms of expressions that it does not know
}

// Exclusion names rule objects the namespace label is not enforced on.
type Exclusion struct {
	Namespace string
	Name      string // empty: all of the namespace
}

// PrometheusSettings reads the settings of a Prometheus server of version v
// (already parsed from spec.version or the default).
func PrometheusSettings(p *v1.Prometheus, v *semver.Version) Settings {
	v = gate.Release(v)
	return Settings{
		EnforcedLabel: p.Spec.EnforcedNamespaceLabel,
		Excluded:      exclusions(p.Spec.ExcludedFromEnforcement, p.Spec.PrometheusRulesExcludedFromEnforce),
		UTF8Names:     !v.LessThan(utf8Since.prometheus),
		PromQL:        PromQLOptions(p.Spec.EnableFeatures),
		unknown:       unknownTo(v, false),
		lacking:       lackingIn(v, false),
		newer:         syntaxNewerThan(v, false),
	}
}

// ThanosRulerSettings reads the settings of a Thanos Ruler of version v
// (already parsed from spec.version or the default). Of the language features
// only the experimental functions can be switched on in a ruler, and only where
// --enable-feature reaches it.
func ThanosRulerSettings(t *v1.ThanosRuler, v *semver.Version) Settings {
	v = gate.Release(v)
	s := Settings{
		EnforcedLabel: t.Spec.EnforcedNamespaceLabel,
		Excluded:      exclusions(t.Spec.ExcludedFromEnforcement, t.Spec.PrometheusRulesExcludedFromEnforce),
		UTF8Names:     !v.LessThan(utf8Since.thanos),
		Thanos:        true,
		unknown:       unknownTo(v, true),
		lacking:       lackingIn(v, true),
		newer:         syntaxNewerThan(v, true),
	}
	// Each element is one flag, and a ruler compares it with the name as it is.
	if !v.LessThan(thanosFeaturesSince) {
		s.PromQL.EnableExperimentalFunctions = slices.Contains(t.Spec.EnableFeatures, experimentalFunctions)
	}
	return s
}

// experimentalFunctions is a feature of Prometheus and of Thanos Ruler.
const experimentalFunctions = "promql-experimental-functions"

// optionalPromQL are the features that add to the language.
var optionalPromQL = map[string]func(*parser.Options){
	experimentalFunctions:             func(o *parser.Options) { o.EnableExperimentalFunctions = true },
	"promql-duration-expr":            func(o *parser.Options) { o.ExperimentalDurationExpr = true },
	"promql-extended-range-selectors": func(o *parser.Options) { o.EnableExtendedRangeSelectors = true },
	"promql-binop-fill-modifiers":     func(o *parser.Options) { o.EnableBinopFillModifiers = true },
}

// AllPromQL are the options for all that the language can have.
func AllPromQL() parser.Options {
	var o parser.Options
	for _, enable := range optionalPromQL {
		enable(&o)
	}
	return o
}

// PromQLOptions translates spec.enableFeatures (the values of Prometheus'
// --enable-feature) into parser options. Other features do not matter here.
func PromQLOptions(features []string) parser.Options {
	var o parser.Options
	for _, entry := range features {
		// The list is handed on joined with commas, so an entry may hold several.
		for f := range strings.SplitSeq(entry, ",") {
			if enable := optionalPromQL[strings.TrimSpace(f)]; enable != nil {
				enable(&o)
			}
		}
	}
	return o
}

// For narrows the settings to one object: exclusions are resolved, so that
// owners which differ only in exclusions of other objects get equal keys.
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

// Key identifies the settings: equal keys compile every object to equal
// fragments.
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
	if s.EnforcedLabel == "" {
		return string(b) // exclusions mean nothing without a label
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

// scheme is what counts as a valid name.
func (s Settings) scheme() model.ValidationScheme {
	if s.UTF8Names {
		return model.UTF8Validation
	}
	return model.LegacyValidation
}

// exclusions joins the two lists an owner may have. Entries of other kinds or
// without a namespace name nothing.
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

package rules

import (
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/promql/parser"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestKeyTellsApartWhatMatters(t *testing.T) {
	prometheus := func(version string, change func(*v1.Prometheus)) Settings {
		p := &v1.Prometheus{}
		change(p)
		return PrometheusSettings(p, semver.MustParse(version))
	}
	enforcing := func(x ...v1.ObjectReference) func(*v1.Prometheus) {
		return func(p *v1.Prometheus) {
			p.Spec.EnforcedNamespaceLabel, p.Spec.ExcludedFromEnforcement = "namespace", x
		}
	}
	plain := func(*v1.Prometheus) {}
	web := v1.ObjectReference{Resource: "prometheusrules", Namespace: "demo", Name: "web"}
	api := v1.ObjectReference{Resource: "prometheusrules", Namespace: "demo", Name: "api"}
	all := v1.ObjectReference{Resource: "prometheusrules", Namespace: "demo"}
	feature := func(f string) func(*v1.Prometheus) {
		return func(p *v1.Prometheus) { p.Spec.EnableFeatures = []string{f} }
	}

	different := map[string]Settings{
		"3.13.2":            prometheus("3.13.2", plain),
		"2.55.1":            prometheus("2.55.1", plain),
		"2.45.0":            prometheus("2.45.0", plain),
		"2.41.0":            prometheus("2.41.0", plain),
		"2.30.0":            prometheus("2.30.0", plain),
		"enforcing":         prometheus("3.13.2", enforcing()),
		"excluding one":     prometheus("3.13.2", enforcing(web)),
		"excluding two":     prometheus("3.13.2", enforcing(web, api)),
		"excluding all":     prometheus("3.13.2", enforcing(all)),
		"functions":         prometheus("3.13.2", feature("promql-experimental-functions")),
		"durations":         prometheus("3.13.2", feature("promql-duration-expr")),
		"ranges":            prometheus("3.13.2", feature("promql-extended-range-selectors")),
		"fill":              prometheus("3.13.2", feature("promql-binop-fill-modifiers")),
		"thanos":            ThanosRulerSettings(&v1.ThanosRuler{}, semver.MustParse("0.42.4")),
		"3.10.0":            prometheus("3.10.0", plain), // only adds other functions
		"thanos 0.38.0":     ThanosRulerSettings(&v1.ThanosRuler{}, semver.MustParse("0.38.0")),
		"other label":       {EnforcedLabel: "ns", UTF8Names: true},
		"label with quotes": {EnforcedLabel: `ns"/"demo"."web"`, UTF8Names: true},
		"label and object":  {EnforcedLabel: "ns", UTF8Names: true, Excluded: []Exclusion{{"demo", "web"}}},
	}
	seen := map[string]string{}
	for name, s := range different {
		if other, ok := seen[s.Key()]; ok {
			t.Errorf("%s and %s share the key %s", name, other, s.Key())
		}
		seen[s.Key()] = name
	}

	for name, pair := range map[string][2]Settings{
		"versions that know the same":              {prometheus("3.13.0", plain), prometheus("3.13.2", plain)},
		"order and repetition of exclusions":       {prometheus("3.0.0", enforcing(web, api)), prometheus("3.0.0", enforcing(api, web, api))},
		"exclusions where nothing is enforced":     {prometheus("3.13.2", plain), {UTF8Names: true, lacking: former, Excluded: []Exclusion{{"demo", ""}}}},
		"features that do not matter":              {prometheus("3.0.0", plain), prometheus("3.0.0", feature("agent"))},
		"an excluded object and nothing enforced":  {prometheus("3.0.0", enforcing(web)).For("demo", "web"), prometheus("3.0.0", plain)},
		"exclusions of other objects, for this":    {prometheus("3.0.0", enforcing(api)).For("demo", "web"), prometheus("3.0.0", enforcing())},
		"a whole namespace excluded, for this":     {prometheus("3.0.0", enforcing(all)).For("demo", "web"), prometheus("3.0.0", plain)},
		"a namespace excluded, for another object": {prometheus("3.0.0", enforcing(all)).For("demo2", "web"), prometheus("3.0.0", enforcing())},
	} {
		if a, b := pair[0].Key(), pair[1].Key(); a != b {
			t.Errorf("%s: keys differ: %s and %s", name, a, b)
		}
	}
}

func TestPromQLOptions(t *testing.T) {
	got := promQLOptions([]string{"agent", " promql-duration-expr , promql-binop-fill-modifiers", "promql-experimental-function"})
	if d := cmp.Diff(parser.Options{ExperimentalDurationExpr: true, EnableBinopFillModifiers: true}, got); d != "" {
		t.Error(d)
	}
}

func TestThanosRulerKnowsOnlyExperimentalFunctions(t *testing.T) {
	for _, tc := range []struct {
		version  string
		features []string
		want     parser.Options
	}{
		{"0.39.0", nil, parser.Options{}},
		{"0.38.0", []string{"promql-experimental-functions"}, parser.Options{}},
		{"0.39.0", []string{"promql-experimental-functions"}, parser.Options{EnableExperimentalFunctions: true}},
		{"0.42.4", []string{"other", "promql-experimental-functions"}, parser.Options{EnableExperimentalFunctions: true}},
		{"0.42.4", []string{"promql-experimental-functions,other"}, parser.Options{}}, // the ruler does not split at commas
		{"0.42.4", []string{" promql-experimental-functions"}, parser.Options{}},
		{"0.42.4", []string{"promql-duration-expr"}, parser.Options{}},
		{"0.42.4", []string{"promql-extended-range-selectors"}, parser.Options{}},
		{"0.42.4", []string{"promql-binop-fill-modifiers"}, parser.Options{}},
	} {
		owner := &v1.ThanosRuler{}
		owner.Spec.EnableFeatures = tc.features
		if d := cmp.Diff(tc.want, ThanosRulerSettings(owner, semver.MustParse(tc.version)).PromQL); d != "" {
			t.Errorf("%s with %q: %s", tc.version, tc.features, d)
		}
	}
}

func TestEveryGateHasAVersionOnBothSides(t *testing.T) {
	for _, g := range gates {
		for thanos, v := range map[bool]*semver.Version{false: g.prometheus, true: g.thanos} {
			below := semver.New(v.Major(), v.Minor(), v.Patch(), "rc.9", "")
			if unknownTo(v, thanos)&g.key != 0 || unknownTo(below, thanos)&g.key == 0 || need(g.key, thanos) != v.String() {
				t.Errorf("key %d is not known exactly from %s on", g.key, v)
			}
		}
	}
}

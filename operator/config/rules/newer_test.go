package rules

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestNewerVersionsTakeMore compiles random objects for successive versions: a newer version
// drops no more keys and rejects no object that an older one accepts. If a Prometheus and a
// ruler support the same keys, their files only differ in the partial response strategy.
func TestNewerVersionsTakeMore(t *testing.T) {
	features := []string{experimentalFunctions}
	p, r := &v1.Prometheus{}, &v1.ThanosRuler{}
	p.Spec.EnableFeatures, r.Spec.EnableFeatures = features, features
	var prometheus, ruler []Settings
	for _, v := range []string{"2.30.0", "2.31.0", "2.42.0", "2.47.0", "2.51.0", "2.53.0", "2.55.0", "3.0.0", "3.5.0", "3.6.0", "3.8.0", "3.13.2"} {
		prometheus = append(prometheus, PrometheusSettings(p, semver.MustParse(v)))
	}
	for _, v := range []string{"0.23.0", "0.24.0", "0.30.0", "0.34.0", "0.35.0", "0.38.0", "0.39.0", "0.40.0", "0.41.0", "0.43.0"} {
		ruler = append(ruler, ThanosRulerSettings(r, semver.MustParse(v)))
	}
	taken, rejected := 0, 0
	for seed := range uint64(400) {
		o := randomObject(seed)
		a, b := newerTakeMore(t, o, prometheus), newerTakeMore(t, o, ruler)
		if (a.Err == nil) != (b.Err == nil) {
			t.Errorf("seed %d: Prometheus %v, ruler %v", seed, a.Err, b.Err)
		}
		var kept strings.Builder
		for line := range strings.Lines(b.Content) {
			if !strings.HasPrefix(line, "  partial_response_strategy:") {
				kept.WriteString(line)
			}
		}
		if kept.String() != a.Content {
			t.Errorf("seed %d: the file of the ruler differs:\n%s\n%s", seed, b.Content, a.Content)
		}
		if a.Err == nil {
			taken++
		} else {
			rejected++
		}
	}
	if taken < 50 || rejected < 50 {
		t.Errorf("%d objects were taken, %d rejected: the property is hardly tested", taken, rejected)
	}
}

// newerTakeMore checks one object and returns its fragment for the newest target.
func newerTakeMore(t *testing.T, o *v1.PrometheusRule, versions []Settings) (newest Fragment) {
	t.Helper()
	for i, s := range versions {
		f := Compile(o, s)
		if i > 0 && (len(f.Dropped) > len(newest.Dropped) || f.Err != nil && newest.Err == nil) {
			t.Errorf("%s, version %d: dropped %q and %v, before %q and %v", o.Name, i, f.Dropped, f.Err, newest.Dropped, newest.Err)
		}
		newest = f
	}
	return newest
}

// randomObject returns an object with keys, names and functions of all versions.
func randomObject(seed uint64) *v1.PrometheusRule {
	p := promql{rand.New(rand.NewPCG(seed, 9))}
	g := v1.RuleGroup{
		Name: "g", PartialResponseStrategy: p.one("", "abort", "Warn"), QueryOffset: v1.Duration(p.one("", "1m")),
		Rules: []v1.Rule{
			record(p.one("a", "a:b", "http.requests"), p.one("up", p.expr(2))),
			with(alert("A", p.one("up", p.expr(2))), func(r *v1.Rule) {
				r.KeepFiringFor = v1.NonEmptyDuration(p.one("", "5m"))
				r.Annotations = map[string]string{p.one("summary", "k8s.io/summary"): p.one("text", "{{ now }}", "{{ urlQueryEscape .Value }}", "{{ nope }}")}
			}),
		},
	}
	if p.IntN(2) == 0 {
		g.Limit = new(p.IntN(100))
	}
	if p.IntN(2) == 0 {
		g.Labels = map[string]string{p.one("team", "k8s.io/team"): "web"}
	}
	return object(g)
}

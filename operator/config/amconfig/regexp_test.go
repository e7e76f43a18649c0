package amconfig

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestRegexpCost: an object of a few kilobytes must not block the operator or exhaust the memory
// of Alertmanager, and realistic objects are far below the limit.
func TestRegexpCost(t *testing.T) {
	const tooMuch = "compile to too much"
	for name, tc := range map[string]struct {
		value string
		times int
		want  string
	}{
		"a large class, repeated":    {`\pL{990}`, 1, `spec.route.matchers[0].value: ` + regexcost.ErrExceeded.Error()},
		"repetitions in repetitions": {`(\pL{31}){31}`, 1, tooMuch},
		"many of them":               {`\pL{100}`, 10_000, tooMuch},
		"many small repetitions":     {`(.*){1000}`, 10_000, errMatcherWork.Error()},
		"a long class":               {strings.Repeat(`\pL`, 5_000), 1, `spec.route.matchers[0].value: ` + regexcost.ErrTooManyOperators.Error()},
		"many names":                 {strings.Repeat("namespace-of-a-team|", 2_000) + "x", 1, ""},
		"many expressions":           {`(?i)kube-.+|[a-z0-9]{1,63}\.example\.org|\w+`, 500, ""},
		"what the anchors complete":  {`a)|(?:b`, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := configOf(t, `{route: {receiver: r}, receivers: [{name: r}]}`)
			for range tc.times {
				c.Spec.Route.Matchers = append(c.Spec.Route.Matchers, v1alpha1.Matcher{Name: "a", Value: tc.value, MatchType: v1alpha1.MatchRegexp})
			}
			start := cputime.Now()
			err := Compile(c, settingsOf(newestVersion, Globals{}), &assets.Static{}).Err
			if took := cputime.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// A tenant delays the alerts of all tenants with an object of 3 kB: Alertmanager compares each alert with the matchers of all
// top routes and inhibition rules, in the order of the labels' names, so that alertname precedes namespace. 55 matchers that
// follow thousands of states for each character took 0.2 s for each alert of any namespace.
func TestMatchersThatTakeLong(t *testing.T) {
	const slow, many = "(.?.?.?){1000}", 55
	matcher := func(value string) v1alpha1.Matcher {
		return v1alpha1.Matcher{Name: "alertname", Value: value, MatchType: v1alpha1.MatchRegexp}
	}
	var matchers, names []v1alpha1.Matcher
	for range many {
		matchers = append(matchers, matcher(slow))
		names = append(names, matcher(".*(Crash|Error|Down).*"), matcher(strings.Repeat("KubeJobFailed|NodeDown|", 100)+"Other"))
	}
	child := func(m []v1alpha1.Matcher) []apiextensionsv1.JSON {
		raw, err := json.Marshal(v1alpha1.Route{Matchers: m})
		if err != nil {
			t.Fatal(err)
		}
		return []apiextensionsv1.JSON{{Raw: raw}}
	}
	for name, tc := range map[string]struct {
		set func(*v1alpha1.AlertmanagerConfigSpec)
		bad bool
	}{
		"of the top route": {func(s *v1alpha1.AlertmanagerConfigSpec) { s.Route.Matchers = matchers }, true},
		"of a child":       {func(s *v1alpha1.AlertmanagerConfigSpec) { s.Route.Routes = child(matchers) }, true},
		"of an inhibition rule": {func(s *v1alpha1.AlertmanagerConfigSpec) {
			s.InhibitRules = []v1alpha1.InhibitRule{{SourceMatch: matchers}}
		}, true},
		"what people write": {func(s *v1alpha1.AlertmanagerConfigSpec) { s.Route.Matchers = names }, false},
		"in an inhibition rule ": {func(s *v1alpha1.AlertmanagerConfigSpec) {
			s.InhibitRules = []v1alpha1.InhibitRule{{TargetMatch: names}}
		}, false},
	} {
		c := configOf(t, `{route: {receiver: r}, receivers: [{name: r}]}`)
		tc.set(&c.Spec)
		err := Compile(c, settingsOf(newestVersion, Globals{}), &assets.Static{}).Err
		if (err != nil) != tc.bad || tc.bad && !strings.Contains(err.Error(), errMatcherWork.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRegexpCostOfRules: all expressions of an object share one budget, regardless of the field.
func TestRegexpCostOfRules(t *testing.T) {
	c := configOf(t, `inhibitRules: [{sourceMatch: [{name: a, value: '\pL{200}', matchType: "!~"}], targetMatch: [{name: a, value: '\pL{200}', regex: true}]}]`)
	err := Compile(c, settingsOf(newestVersion, Globals{}), &assets.Static{}).Err
	if want := "spec.inhibitRules[0].targetMatch[0].value: " + regexcost.ErrExceeded.Error(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRegexpSyntax: an expression that only newer versions compile would break the configuration
// of all teams, so it is rejected.
func TestRegexpSyntax(t *testing.T) {
	for _, tc := range []struct{ value, before, since, want string }{
		{`(?<n>a)`, "0.27.0", "0.28.0", `(?<name>…), unlike (?P<name>…), needs Alertmanager >= 0.28.0`},
		{`a)(?<n>b`, "0.22.0", "0.28.0", `needs Alertmanager >= 0.28.0`},
		{`\p{Kawi}`, "0.26.0", "0.27.0", `needs Alertmanager >= 0.27.0`},
		{`\p{Letter}`, "0.28.1", "0.29.0", `needs Alertmanager >= 0.29.0`},
		{`[^\P{^letter}]`, "0.28.1", "0.29.0", `needs Alertmanager >= 0.29.0`},
		{`\p{LC}`, "0.28.1", "0.29.0", `needs Alertmanager >= 0.29.0`},
		{`(?P<n>a)\p{L}\pN\p{Lu}\p{Greek}\p{Any}`, "", "0.15.0", ""},
		{`[(?<]`, "", "0.15.0", ""},
	} {
		spec := configOf(t, `{route: {receiver: r}, receivers: [{name: r}]}`)
		spec.Spec.Route.Matchers = []v1alpha1.Matcher{{Name: "a", Value: tc.value, Regex: true}}
		if tc.before != "" {
			want := "spec.route.matchers[0].value: "
			err := Compile(spec, settingsOf(tc.before, Globals{}), &assets.Static{}).Err
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("%s with %s: got %v, want %s", tc.value, tc.before, err, tc.want)
			}
		}
		if err := Compile(spec, settingsOf(tc.since, Globals{}), &assets.Static{}).Err; err != nil {
			t.Errorf("%s with %s: %v", tc.value, tc.since, err)
		}
	}
}

// TestTemplateSyntax is the same for the templates that Alertmanager parses when it loads its configuration.
func TestTemplateSyntax(t *testing.T) {
	spec := configOf(t, `{route: {receiver: r}, receivers: [{name: r, opsgenieConfigs: [{responders: [{id: a, type: "{{ with .A }}team{{ else with .B }}user{{ end }}"}]}]}]}`)
	for version, want := range map[string]string{
		"0.27.0": "spec.receivers[0].opsgenieConfigs[0].responders[0].type: {{ else with … }}, unlike {{ else }}{{ with … }}, needs Alertmanager >= 0.28.0",
		"0.28.0": "",
	} {
		err := Compile(spec, settingsOf(version, Globals{OpsGenieKey: true}), &assets.Static{}).Err
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v, want %s", version, err, want)
		}
	}
}

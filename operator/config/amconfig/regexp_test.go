package amconfig

import (
	"strings"
	"testing"
	"time"

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
		"many small repetitions":     {`(.*){1000}`, 10_000, tooMuch},
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

package amconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// A tenant exhausts the memory of the Alertmanager of all tenants with an object of 100 kB: 4,900 routes that continue, to a
// server that does not answer, took 750 MB for 500 alerts of a kilobyte.
func TestFanOut(t *testing.T) {
	const most = budget.Notifications
	routes := func(n int, route string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(route+",", n), ",") + "]"
	}
	hooks := func(n int) string { return routes(n, `{"url":"http://a"}`) }
	for name, c := range map[string]struct {
		hooks  int // of the receiver
		routes string
		bad    bool
	}{
		"continue":          {1, routes(most+1, `{"continue":true}`), true},
		"just enough":       {1, routes(most, `{"continue":true}`), false},
		"the first matches": {1, routes(4_000, `{}`), false},
		"the last ends":     {1, "[" + strings.Trim(routes(most, `{"continue":true}`), "[]") + `,{"matchers":[{"name":"a","value":"b"}]}]`, true},
		"levels":            {1, routes(2, `{"continue":true,"routes":`+routes(most/2+1, `{"continue":true}`)+`}`), true},
		"one of the levels": {1, routes(2, `{"routes":`+routes(most/2+1, `{"continue":true}`)+`}`), false},
		"no integrations":   {0, routes(most+1, `{"continue":true}`), true}, // a group for each
		"as many groups":    {0, routes(most, `{"continue":true}`), false},
		"one receiver":      {most + 1, "[]", true},
		"several for each":  {3, routes(most/2, `{"continue":true}`), true},
		"another receiver":  {1, routes(most+1, `{"continue":true,"receiver":"none"}`), true},
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		text := fmt.Sprintf(`{"receivers":[{"name":"r","webhookConfigs":%s},{"name":"none"}],"route":{"receiver":"r","routes":%s}}`, hooks(c.hooks), c.routes)
		if err := json.Unmarshal([]byte(text), &config.Spec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := Validate(config); (err != nil) != c.bad || c.bad && !errors.Is(err, errFanOut) && !strings.Contains(err.Error(), errFanOut.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tenant has an Alertmanager refuse the alerts of all tenants with an object of thousands of inhibition rules: with 20,000 of
// them, it did not take a thousand alerts within 20 s, and needed a gigabyte.
func TestManyInhibitionRules(t *testing.T) {
	rule := func(labels int) v1alpha1.InhibitRule {
		r := v1alpha1.InhibitRule{SourceMatch: make([]v1alpha1.Matcher, labels/4), TargetMatch: make([]v1alpha1.Matcher, labels/4), Equal: make([]string, labels/2)}
		for i := range r.SourceMatch {
			r.SourceMatch[i] = v1alpha1.Matcher{Name: "a", Value: "b"}
			r.TargetMatch[i] = r.SourceMatch[i]
		}
		for i := range r.Equal {
			r.Equal[i] = "c"
		}
		return r
	}
	for name, c := range map[string]struct {
		rules, labels int // labels of each rule
		want          string
	}{
		"as many rules":    {budget.InhibitRules, 4, ""},
		"too many rules":   {budget.InhibitRules + 1, 0, "spec.inhibitRules: has more than 500 elements, the limit of one AlertmanagerConfig"},
		"as many labels":   {budget.InhibitLabels / 40, 40, ""},
		"too many labels":  {budget.InhibitLabels/40 + 1, 40, "spec.inhibitRules: sourceMatch, targetMatch and equal have more than 10000 elements in all rules, the limit of one AlertmanagerConfig"},
		"one of them long": {1, budget.InhibitLabels + 4, "spec.inhibitRules: sourceMatch, targetMatch and equal have more than 10000 elements in all rules, the limit of one AlertmanagerConfig"},
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		for range c.rules {
			config.Spec.InhibitRules = append(config.Spec.InhibitRules, rule(c.labels))
		}
		got := ""
		if err := Validate(config); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

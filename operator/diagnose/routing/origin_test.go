package routing

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// merged is the configuration of an Alertmanager with two AlertmanagerConfigs, whose base has one
// route and one rule.
const merged = `
route:
  receiver: BASEdefault
  routes:
  - {receiver: ns-a/x/r, matchers: ['namespace="ns-a"'], continue: true, routes: [{matchers: [a=b]}, {receiver: ns-a/x/q}]}
  - {receiver: ns/x/r, matchers: ['namespace="ns"'], continue: true}
  - {receiver: BASEwatch, continue: true}
inhibit_rules:
- {source_matchers: [a=b], target_matchers: [namespace=~".*"]}
- {source_matchers: ['s=~"1"', 'namespace="ns-a"'], target_matchers: ['t="2"', 'namespace="ns-a"'], equal: [a, b]}
- {source_matchers: [a=b, namespace=ns], target_matchers: [namespace=ns]}
- {source_matchers: [a=c, namespace=ns], target_matchers: [namespace=ns]}
receivers: [{name: BASEdefault}, {name: BASEwatch}, {name: ns-a/x/r}, {name: ns-a/x/q}, {name: ns/x/r}]
`

// alertmanagerConfig returns an AlertmanagerConfig.
func alertmanagerConfig(t *testing.T, key, spec string) *v1alpha1.AlertmanagerConfig {
	t.Helper()
	out := &v1alpha1.AlertmanagerConfig{}
	out.Namespace, out.Name, _ = strings.Cut(key, "/")
	if err := yaml.UnmarshalStrict([]byte(spec), &out.Spec); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOrigins(t *testing.T) {
	am := func(spec v1.AlertmanagerSpec) *v1.Alertmanager {
		return &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "m", Name: "main"}, Spec: spec}
	}
	all := v1.AlertmanagerSpec{AlertmanagerConfigSelector: &metav1.LabelSelector{}}
	a := alertmanagerConfig(t, "ns-a/x", "{route: {receiver: r, routes: [{matchers: [{name: a, value: b}]}, {receiver: q}]}, inhibitRules: [{sourceMatch: [{name: s, value: '1', regex: true}], targetMatch: [{name: t, value: '2'}], equal: [b, a]}]}")
	b := alertmanagerConfig(t, "ns/x", "{route: {receiver: r}, inhibitRules: [{sourceMatch: [{name: a, value: b}], targetMatch: []}, {sourceMatch: [{name: a, value: c, matchType: =}]}]}")
	configs := map[string]*v1alpha1.AlertmanagerConfig{"ns-a/x": a, "ns/x": b, "other/c": alertmanagerConfig(t, "other/c", "{inhibitRules: [{sourceMatch: [{name: z, value: b}]}]}")}
	for name, tc := range map[string]struct {
		base    string
		origins Origins
		want    []string
	}{
		"a file alone: by the names": {"", Origins{File: "am.yaml"}, []string{
			"am.yaml, route",
			"AlertmanagerConfig ns-a/x, spec.route", "AlertmanagerConfig ns-a/x, spec.route.routes[0]", "AlertmanagerConfig ns-a/x, spec.route.routes[1]",
			"AlertmanagerConfig ns/x, spec.route", "am.yaml, route.routes[2]",
			"am.yaml, inhibit_rules[0]", "am.yaml, inhibit_rules[2]", "am.yaml, inhibit_rules[3]",
		}},
		"an Alertmanager and its objects": {"", Origins{Alertmanager: am(all), Configs: configs}, []string{
			"Alertmanager m/main, route",
			"AlertmanagerConfig ns-a/x, spec.route", "AlertmanagerConfig ns-a/x, spec.route.routes[0]", "AlertmanagerConfig ns-a/x, spec.route.routes[1]",
			"AlertmanagerConfig ns/x, spec.route", "Alertmanager m/main, route.routes[0]",
			"Alertmanager m/main, inhibit_rules[0]", "AlertmanagerConfig ns/x, spec.inhibitRules[0]", "AlertmanagerConfig ns/x, spec.inhibitRules[1]",
		}},
		"objects have changed": {"", Origins{Alertmanager: am(all), Configs: map[string]*v1alpha1.AlertmanagerConfig{"ns-a/x": alertmanagerConfig(t, "ns-a/x", "{route: {receiver: r, routes: [{receiver: q}]}}")}}, []string{
			"Alertmanager m/main, route",
			"AlertmanagerConfig ns-a/x, spec.route", "AlertmanagerConfig ns-a/x, spec.route.routes[0] (which the object has no longer)",
			"AlertmanagerConfig ns-a/x, spec.route.routes[1] (which the object has no longer)",
			"AlertmanagerConfig ns/x, spec.route (which the object has no longer)", "Alertmanager m/main, route.routes[0]",
			"Alertmanager m/main, inhibit_rules[0]", "Alertmanager m/main, inhibit_rules[2]", "Alertmanager m/main, inhibit_rules[3]",
		}},
		"the user's own configuration": {"", Origins{Alertmanager: am(v1.AlertmanagerSpec{}), Configs: configs}, []string{
			"Alertmanager m/main, route",
			"Alertmanager m/main, route.routes[0]", "Alertmanager m/main, route.routes[0].routes[0]", "Alertmanager m/main, route.routes[0].routes[1]",
			"Alertmanager m/main, route.routes[1]", "Alertmanager m/main, route.routes[2]",
			"Alertmanager m/main, inhibit_rules[0]", "Alertmanager m/main, inhibit_rules[2]", "Alertmanager m/main, inhibit_rules[3]",
		}},
		"an AlertmanagerConfig is the base": {"m/global/", Origins{Alertmanager: am(v1.AlertmanagerSpec{
			AlertmanagerConfigSelector: &metav1.LabelSelector{}, AlertmanagerConfiguration: &v1.AlertmanagerConfiguration{Name: "global"},
		}), Configs: map[string]*v1alpha1.AlertmanagerConfig{
			"ns-a/x": a, "ns/x": b, "m/global": alertmanagerConfig(t, "m/global", "{route: {receiver: default, routes: [{receiver: watch}]}}"),
		}}, []string{
			"AlertmanagerConfig m/global, spec.route",
			"AlertmanagerConfig ns-a/x, spec.route", "AlertmanagerConfig ns-a/x, spec.route.routes[0]", "AlertmanagerConfig ns-a/x, spec.route.routes[1]",
			"AlertmanagerConfig ns/x, spec.route", "AlertmanagerConfig m/global, spec.route.routes[0]",
			"AlertmanagerConfig m/global, spec.inhibitRules[0]", "AlertmanagerConfig ns/x, spec.inhibitRules[0]", "AlertmanagerConfig ns/x, spec.inhibitRules[1]",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := parsed(t, strings.ReplaceAll(merged, "BASE", tc.base))
			var got []string
			ask := func(namespace string) Report {
				return c.Route(Question{Labels: Labels{"namespace": model.LabelValue(namespace), "a": "z"}, At: at, All: true}, tc.origins)
			}
			got = append(got, froms(ask("ns-a").Route)...)
			for _, r := range ask("ns").InhibitRules {
				got = append(got, r.Origin.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func froms(s Step) []string {
	out := []string{s.Origin.String()}
	for _, below := range s.Routes {
		out = append(out, froms(below)...)
	}
	return out
}

// Routes of the base whose names look like those of AlertmanagerConfigs are not attributed to them
// unless they are where the operator puts generated routes.
func TestRoutesOfTheBase(t *testing.T) {
	for name, routes := range map[string]string{
		"without continue":        "{receiver: a/b/c}",
		"in another order":        "{receiver: plain, continue: true}, {receiver: a/b/c, continue: true}",
		"with two parts":          "{receiver: a/b, continue: true}",
		"with an empty namespace": "{receiver: /b/c, continue: true}",
	} {
		c := parsed(t, fmt.Sprintf("route: {receiver: plain, routes: [%s]}\nreceivers: [{name: plain}, {name: a/b/c}, {name: a/b}, {name: /b/c}]\n", routes))
		for _, from := range froms(c.Route(Question{Labels: Labels{"a": "b"}, At: at, All: true}, Origins{File: "f"}).Route) {
			if !strings.HasPrefix(from, "f, ") {
				t.Errorf("%s: from %s", name, from)
			}
		}
	}
}

// The routes of an object are found at any depth, and decoded once.
func TestHas(t *testing.T) {
	const levels = 60
	raw := strings.Repeat(`{"receiver":"r","routes":[{"receiver":"other"},`, levels) + strings.Repeat(`{"receiver":"leaf"},`, 20_000) + `{"receiver":"last"}` + strings.Repeat("]}", levels)
	config := &v1alpha1.AlertmanagerConfig{Spec: v1alpha1.AlertmanagerConfigSpec{Route: &v1alpha1.Route{
		Receiver: "top", Routes: []apiextensionsv1.JSON{{Raw: []byte(raw)}},
	}}}
	o := origins{named: map[string]*named{}}
	receiver := func(name string) string { return "team/a/" + name }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	path := []int{}
	for level := range levels + 1 {
		want := "r"
		if level == 0 {
			want = "top"
		}
		if !o.has("team/a", config, path, receiver(want)) || o.has("team/a", config, path, receiver("none")) || o.has("team/a", config, append(slices.Clone(path), 30_000), receiver("leaf")) {
			t.Fatalf("level %d: not the receiver %s", level, want)
		}
		path = append(path, min(level, 1))
	}
	if !o.has("team/a", config, path, receiver("leaf")) {
		t.Errorf("no leaf at %v", path)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 40*uint64(len(raw)) {
		t.Errorf("%d bytes of routes took %d", len(raw), n)
	}
	if o.has("team/b", &v1alpha1.AlertmanagerConfig{}, nil, "r") {
		t.Error("an object without a route has one")
	}
}

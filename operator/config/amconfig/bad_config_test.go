package amconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// configOf returns team/web with the spec.
func configOf(tb testing.TB, spec string) *v1alpha1.AlertmanagerConfig {
	tb.Helper()
	config := &v1alpha1.AlertmanagerConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}}
	if err := kyaml.UnmarshalStrict([]byte(spec), &config.Spec); err != nil {
		tb.Fatal(err)
	}
	return config
}

func settingsOf(version string, globals Globals) *Settings {
	am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}
	return NewSettings(am, semver.MustParse(version), globals)
}

const route = "\nroute: {receiver: r}\nreceivers: [{name: r}]"

// stateless maps errors of Validate to inputs.
var stateless = map[string]string{
	`spec.receivers[1].name: "r" is used twice`:                                                        `receivers: [{name: r}, {name: r}]`,
	`spec.receivers[1].slackConfigs[0].actions[0].text: is empty`:                                      `receivers: [{name: a}, {name: r, slackConfigs: [{actions: [{type: b, text: ""}]}]}]`,
	`spec.route.receiver: is empty; the top route needs a receiver`:                                    `route: {}`,
	`spec.route.receiver: there is no receiver "slak", did you mean "slack"?`:                          `{route: {receiver: slak}, receivers: [{name: slack}]}`,
	`spec.route.routes[0].match: unknown field; write matchers: [{name: …, value: …, matchType: …}]`:   `{route: {receiver: r, routes: [{match: {a: b}}]}, receivers: [{name: r}]}`,
	`spec.route.receiver: there is no receiver "s"; there is r`:                                        `{route: {receiver: s}, receivers: [{name: r}]}`,
	`spec.route.routes[1].routes[0].receiver: there is no receiver "s"; there is r`:                    `{route: {receiver: r, routes: [{}, {routes: [{receiver: s}]}]}, receivers: [{name: r}]}`,
	`spec.route.groupBy[1]: "a" is used twice`:                                                         `{route: {receiver: r, groupBy: [a, a]}, receivers: [{name: r}]}`,
	`spec.route.groupBy[1]: "..." must be the only element`:                                            `{route: {receiver: r, groupBy: [a, '...']}, receivers: [{name: r}]}`,
	`spec.route.routes[0].muteTimeIntervals[0]: there is no time interval "i"`:                         `{route: {receiver: r, routes: [{muteTimeIntervals: [i]}]}, receivers: [{name: r}]}`,
	`spec.route.activeTimeIntervals[0]: there is no time interval "i"`:                                 `{route: {receiver: r, activeTimeIntervals: [i]}, receivers: [{name: r}]}`,
	`spec.route.matchers[0].matchType: "~" is not one of =, !=, =~, !~`:                                `{route: {receiver: r, matchers: [{name: a, matchType: "~"}]}, receivers: [{name: r}]}`,
	`spec.route.matchers[0].name: is empty`:                                                            `{route: {receiver: r, matchers: [{name: " ", matchType: "="}]}, receivers: [{name: r}]}`,
	`spec.route.routes[0].groupby_: unknown field, did you mean "groupBy"?`:                            `{route: {receiver: r, routes: [{groupby_: [a]}]}, receivers: [{name: r}]}`,
	`spec.route.routes[0]: is null`:                                                                    `{route: {receiver: r, routes: [null]}, receivers: [{name: r}]}`,
	`spec.route.routes[0]: is a JSON array, not a route`:                                               `{route: {receiver: r, routes: [[]]}, receivers: [{name: r}]}`,
	`spec.route.routes[0].routes[0].matchers[0].name: want a string, got an integer: put it in quotes`: `{route: {receiver: r, routes: [{routes: [{matchers: [{name: 1}]}]}]}, receivers: [{name: r}]}`,

	`spec.muteTimeIntervals[0].name: is empty`:                                                                                                                                        `muteTimeIntervals: [{name: ""}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].times[0].startTime: is empty`:                                                                                                         `muteTimeIntervals: [{name: i, timeIntervals: [{times: [{endTime: "01:00"}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].times[0].endTime: is empty`:                                                                                                           `muteTimeIntervals: [{name: i, timeIntervals: [{times: [{startTime: "01:00"}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].times[0].startTime: "1:00" is not a time of the form HH:MM`:                                                                           `muteTimeIntervals: [{name: i, timeIntervals: [{times: [{startTime: "1:00", endTime: "02:00"}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].times[0].endTime: "24:01" is not a time of the form HH:MM`:                                                                            `muteTimeIntervals: [{name: i, timeIntervals: [{times: [{startTime: "01:00", endTime: "24:01"}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].times[0].endTime: "01:00" is not after startTime "01:00"`:                                                                             `muteTimeIntervals: [{name: i, timeIntervals: [{times: [{startTime: "01:00", endTime: "01:00"}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].weekdays[0]: "moonday" is not a day of the week`:                                                                                      `muteTimeIntervals: [{name: i, timeIntervals: [{weekdays: [moonday]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].weekdays[0]: the range "friday:monday" ends before it starts; a week begins with sunday: write "friday:saturday" and "sunday:monday"`: `muteTimeIntervals: [{name: i, timeIntervals: [{weekdays: ["friday:monday"]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].weekdays[0]: "tuesday:friday" is not a day of the week`:                                                                               `muteTimeIntervals: [{name: i, timeIntervals: [{weekdays: ["monday:tuesday:friday"]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].daysOfMonth[0].start: 0 is not a day of the month: 1 to 31, or -31 to -1 from its end`:                                                `muteTimeIntervals: [{name: i, timeIntervals: [{daysOfMonth: [{end: 1}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].daysOfMonth[0].end: 32 is not a day of the month: 1 to 31, or -31 to -1 from its end`:                                                 `muteTimeIntervals: [{name: i, timeIntervals: [{daysOfMonth: [{start: 1, end: 32}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].daysOfMonth[0].end: must be negative because start is`:                                                                                `muteTimeIntervals: [{name: i, timeIntervals: [{daysOfMonth: [{start: -1, end: 1}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].daysOfMonth[0].end: 4 is before start 5`:                                                                                              `muteTimeIntervals: [{name: i, timeIntervals: [{daysOfMonth: [{start: 5, end: 4}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].daysOfMonth[0].end: -10 is before start 20`:                                                                                           `muteTimeIntervals: [{name: i, timeIntervals: [{daysOfMonth: [{start: 20, end: -10}]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].months[0]: "13" is not a month`:                                                                                                       `muteTimeIntervals: [{name: i, timeIntervals: [{months: ["13"]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].months[0]: the range "march:1" ends before it starts; a year begins with 1: write "3:12" and "1"`:                                     `muteTimeIntervals: [{name: i, timeIntervals: [{months: ["march:1"]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].years[0]: "x" is not a year`:                                                                                                          `muteTimeIntervals: [{name: i, timeIntervals: [{years: [x]}]}]`,
	`spec.muteTimeIntervals[0].timeIntervals[0].years[0]: the range "2031:2030" ends before it starts`:                                                                                `muteTimeIntervals: [{name: i, timeIntervals: [{years: ["2031:2030"]}]}]`,
}

// All errors are reported with their path, up to a limit.
func TestAllFaults(t *testing.T) {
	const spec = `
receivers: [{name: r, slackConfigs: [{actions: [{type: b, text: ""}]}]}, {name: r}]
muteTimeIntervals: [{name: i, timeIntervals: [{months: ["13"]}]}]
route:
  groupBy: [a, a]
  routes:
  - {receiver: none, matchers: [{name: " ", matchType: "="}], routes: [{receiver: gone, activeTimeIntervals: [j]}]}
  - {groupby_: [a]}
  - {routes: [null, {muteTimeIntervals: [k]}]}
`
	want := strings.TrimSpace(`
spec.receivers[0].slackConfigs[0].actions[0].text: is empty
spec.receivers[1].name: "r" is used twice
spec.muteTimeIntervals[0].timeIntervals[0].months[0]: "13" is not a month
spec.route.routes[1].groupby_: unknown field, did you mean "groupBy"?
spec.route.routes[2].routes[0]: is null
spec.route.receiver: is empty; the top route needs a receiver
spec.route.groupBy[1]: "a" is used twice
spec.route.routes[0].receiver: there is no receiver "none"; there is r
spec.route.routes[0].matchers[0].name: is empty
spec.route.routes[0].routes[0].receiver: there is no receiver "gone"; there is r
spec.route.routes[0].routes[0].activeTimeIntervals[0]: there is no time interval "j"; there is i
spec.route.routes[2].routes[1].muteTimeIntervals[0]: there is no time interval "k"; there is i`)
	if err := Validate(configOf(t, spec)); fmt.Sprint(err) != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}

	// So are durations of children, which an object with other faults does not convert.
	wrong := `{receivers: [{name: r}], route: {receiver: r, routes: [{continue: "true", repeatInterval: 1 day}, {groupWait: 5 m, a: b}]}}`
	want = `spec.route.routes[0].continue: want true or false, got a string: write it without quotes
spec.route.routes[1].a: unknown field
spec.route.routes[0].repeatInterval: unknown unit " day" in duration "1 day"
spec.route.routes[1].groupWait: unknown unit " m" in duration "5 m"`
	if err := Validate(configOf(t, wrong)); fmt.Sprint(err) != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}

	// An invalid matcher is not also reported for its empty name.
	text := `{receivers: [{name: r}], route: {receiver: r, routes: [{matchers: ["a=b", {name: "", value: c, matchType: "="}]}]}}`
	want = `spec.route.routes[0].matchers[0]: want an object, got a string; write {name: severity, value: critical, matchType: "="} for severity="critical"
spec.route.routes[0].matchers[1].name: is empty`
	if err := Validate(configOf(t, text)); fmt.Sprint(err) != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}

	// Errors that depend on the version or on Secrets are reported together.
	const late = `
receivers: [{name: r, webhookConfigs: [{urlSecret: {name: none, key: k}}]}]
inhibitRules: [{sourceMatch: [{name: a, value: "(", matchType: "=~"}], targetMatch: [{name: a, value: ")", matchType: "=~"}], equal: ["0"]}]
route:
  receiver: r
  groupWait: soon
  groupBy: [b, "1"]
  matchers: [{name: a, value: "(", matchType: "=~"}, {name: a, value: b}, {name: a, value: "[", matchType: "=~"}]
  routes: [{repeatInterval: never}, {groupInterval: 5}]
`
	err := Compile(configOf(t, strings.Replace(late, "groupInterval: 5", "groupInterval: later", 1)), settingsOf("0.25.0", AnyGlobals), &assets.Static{}).Err
	for _, place := range []string{"spec.receivers[0].webhookConfigs[0].urlSecret.name: ", "spec.route.matchers[0].value: ", "spec.route.matchers[2].value: ", "spec.route.groupBy[1]: ", "spec.route.groupWait: ",
		"spec.route.routes[0].repeatInterval: ", "spec.route.routes[1].groupInterval: ", "spec.inhibitRules[0].sourceMatch[0].value: ", "spec.inhibitRules[0].targetMatch[0].value: ", "spec.inhibitRules[0].equal[0]: "} {
		if n := strings.Count("\n"+fmt.Sprint(err), "\n"+place); n != 1 {
			t.Errorf("%q is there %d times in\n%v", place, n, err)
		}
	}
	if !assets.IsNotFound(err) {
		t.Errorf("nobody sees that a Secret is missing: %v", err)
	}

	many := "route: {receiver: r, routes: [" + strings.Repeat("{receiver: s},", 1000) + "]}\nreceivers: [{name: r}]"
	if got := len(faults.Leaves(Validate(configOf(t, many)))); got != faults.Most {
		t.Errorf("%d faults of 1,000 are reported, want %d", got, faults.Most)
	}
}

func TestValidate(t *testing.T) {
	for want, spec := range stateless {
		config := configOf(t, spec)
		if err := Validate(config); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", spec, err, want)
		}
		if f := Compile(config, settingsOf(newestVersion, AnyGlobals), &assets.Static{}); f.Err == nil || f.Err.Error() != want || f.YAML != nil {
			t.Errorf("%s\n compiles: %v", spec, f.Err)
		}
	}
	if err := Validate(configOf(t, `{}`)); err != nil {
		t.Errorf("an empty object: %v", err)
	}
}

// deep returns n nested routes.
func deep(n int) string {
	return strings.Repeat("{routes: [", n) + "{}" + strings.Repeat("]}", n)
}

// TestCompileRejects: inputs that pass Validate are rejected when compiled because of the version, Secrets, the
// base, or Alertmanager's loader.
func TestCompileRejects(t *testing.T) {
	var objects assets.Static
	objects.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "s"},
		StringData: map[string]string{"url": "https://hunter2.example.org/\x01hunter2", "key": "hunter2"}})
	for name, tc := range map[string]struct {
		version, spec, want string
		globals             Globals
	}{
		"a match type before 0.22.0":                    {version: "0.21.0", spec: `{route: {receiver: r, routes: [{matchers: [{name: a, matchType: "="}]}]}, receivers: [{name: r}]}`, want: `spec.route.routes[0].matchers[0].matchType: needs Alertmanager >= 0.22.0`},
		"a match type of inhibition":                    {version: "0.21.0", spec: `inhibitRules: [{targetMatch: [{name: a, matchType: "="}]}]`, want: `spec.inhibitRules[0].targetMatch[0].matchType: needs Alertmanager >= 0.22.0`},
		"an unknown match type of inhibition":           {spec: `inhibitRules: [{sourceMatch: [{name: a, matchType: "=="}]}]`, want: `spec.inhibitRules[0].sourceMatch[0].matchType: "==" is not one of =, !=, =~, !~`},
		"an inhibition without name":                    {spec: `inhibitRules: [{sourceMatch: [{name: "", matchType: "="}]}]`, want: `spec.inhibitRules[0].sourceMatch[0].name: is empty`},
		"a matcher without name":                        {spec: `{route: {receiver: r, matchers: [{name: "", value: a}]}, receivers: [{name: r}]}`, want: `spec.route.matchers[0].name: is empty`},
		"a wrong regular expression":                    {spec: `{route: {receiver: r, matchers: [{name: a, value: "(", regex: true}]}, receivers: [{name: r}]}`, want: "spec.route.matchers[0].value: error parsing regexp: missing closing ): `(`"},
		"a wrong regular expression of 0.21.0":          {version: "0.21.0", spec: `inhibitRules: [{sourceMatch: [{name: a, value: "[", regex: true}]}]`, want: "spec.inhibitRules[0].sourceMatch[0].value: error parsing regexp: missing closing ]: `[`"},
		"a label name in UTF-8 in equal, before 0.28.0": {version: "0.27.0", spec: `inhibitRules: [{equal: [a, b.c]}]`, want: `spec.inhibitRules[0].equal[1]: "b.c" is not a valid label name here before Alertmanager 0.28.0`},
		"a label name in UTF-8 in equal":                {version: "0.26.0", spec: `inhibitRules: [{equal: [a, b.c]}]`, want: `spec.inhibitRules[0].equal[1]: "b.c" is not a valid label name before Alertmanager 0.27.0 or in classic-mode`},
		"an empty label name in equal":                  {spec: `inhibitRules: [{equal: [""]}]`, want: `spec.inhibitRules[0].equal[0]: is empty`},
		"an empty label name in groupBy":                {spec: `{route: {receiver: r, groupBy: [""]}, receivers: [{name: r}]}`, want: `spec.route.groupBy[0]: is empty`},
		"a duration that is none":                       {spec: `{route: {receiver: r, routes: [{groupWait: 1x}]}, receivers: [{name: r}]}`, want: `spec.route.routes[0].groupWait: unknown unit "x" in duration "1x"`},
		"an interval that is none":                      {spec: `{route: {receiver: r, repeatInterval: soon}, receivers: [{name: r}]}`, want: `spec.route.repeatInterval: not a valid duration string: "soon"`},
		"two intervals of one name":                     {spec: `muteTimeIntervals: [{name: i}, {name: i}]` + route, want: `spec.muteTimeIntervals[1].name: "i" is used twice`},
		"routes too deep":                               {spec: `{route: {receiver: r, routes: [` + deep(budget.RouteDepth) + `]}, receivers: [{name: r}]}`, want: `routes are nested deeper than 64 levels`},
		"a missing Secret":                              {spec: `{route: {receiver: r}, receivers: [{name: r, slackConfigs: [{apiURL: {name: gone, key: url}}]}]}`, want: `spec.receivers[0].slackConfigs[0].apiURL.name: Secret "team/gone" does not exist`},
		"an empty receiver name":                        {spec: `receivers: [{name: ""}]` + "\nroute: {receiver: r, routes: []}", want: `spec.route.receiver: there is no receiver "r"`},
		"email without smarthost":                       {spec: `{route: {receiver: r}, receivers: [{name: r, emailConfigs: [{to: a@b, from: a@b}]}]}`, want: `spec.receivers[0].emailConfigs[0].smarthost: `},
		"email without from":                            {spec: `{route: {receiver: r}, receivers: [{name: r, emailConfigs: [{to: a@b, smarthost: "a:25"}]}]}`, want: `spec.receivers[0].emailConfigs[0].from: `},
		"slack without URL":                             {spec: `{route: {receiver: r}, receivers: [{name: r, slackConfigs: [{channel: a}]}]}`, want: `spec.receivers[0].slackConfigs[0].apiURL: `},
		"opsgenie without key":                          {spec: `{route: {receiver: r}, receivers: [{name: r, opsgenieConfigs: [{message: a}]}]}`, want: `spec.receivers[0].opsgenieConfigs[0].apiKey: `},
		"victorops without key":                         {spec: `{route: {receiver: r}, receivers: [{name: r, victoropsConfigs: [{routingKey: a}]}]}`, want: `spec.receivers[0].victoropsConfigs[0].apiKey: `},
		"wechat without secret":                         {spec: `{route: {receiver: r}, receivers: [{name: r, wechatConfigs: [{toUser: a}]}]}`, want: `spec.receivers[0].wechatConfigs[0].apiSecret: `},
		"webex without authorization":                   {spec: `{route: {receiver: r}, receivers: [{name: r, webexConfigs: [{roomID: a}]}]}`, want: `spec.receivers[0].webexConfigs[0].httpConfig`},
		"a wrong URL in a Secret":                       {spec: `{route: {receiver: r}, receivers: [{name: r, slackConfigs: [{apiURL: {name: s, key: url}}]}]}`, want: `spec.receivers[0].slackConfigs[0].apiURL: `},
		"an app token beside an authorization": {spec: `{route: {receiver: r}, receivers: [{name: a}, {name: r, slackConfigs: [{channel: a}]}]}`, globals: Globals{SlackAppToken: true, HTTPAuthorization: true},
			want: `spec.receivers[1].slackConfigs[0].httpConfig: is missing, and the global one has an authorization`},
	} {
		t.Run(name, func(t *testing.T) {
			version := newestVersion
			if tc.version != "" {
				version = tc.version
			}
			f := Compile(configOf(t, tc.spec), settingsOf(version, tc.globals), &objects)
			switch {
			case f.Err == nil:
				t.Fatalf("no error")
			case !strings.Contains(f.Err.Error(), tc.want):
				t.Errorf("got  %v\nwant %s", f.Err, tc.want)
			case strings.Contains(f.Err.Error(), "hunter2"):
				t.Errorf("a secret is shown: %v", f.Err)
			case f.YAML != nil:
				t.Errorf("text beside an error")
			}
		})
	}
}

// TestDependencies: the dependencies of a rejected object are known, because a change of them may fix it.
func TestDependencies(t *testing.T) {
	f := Compile(configOf(t, `{route: {receiver: r}, receivers: [{name: r, slackConfigs: [{apiURL: {name: gone, key: url}}]}]}`),
		settingsOf(newestVersion, Globals{}), &assets.Static{})
	if len(f.Deps) != 1 || f.Deps[0].Ref.Name != "gone" || f.Err == nil {
		t.Errorf("%v, %v", f.Deps, f.Err)
	}
}

// TestTry: the error for an item that passes all checks but not the loader identifies the item, and shows the
// location of a secret instead of its value.
func TestTry(t *testing.T) {
	settings := settingsOf(newestVersion, Globals{})
	bad := "hunter2://hunter2"
	for want, add := range map[string]additions{
		`spec.receivers[1].webhookConfigs[0].url: refused by Alertmanager: the value is not valid`: {
			receivers: []Receiver{{Name: "a"}, {Name: "b", Webhook: []Webhook{{URL: bad}}}}},
		`spec.inhibitRules[0]: refused by Alertmanager: invalid label name "" in equal list`: {
			inhibit: []InhibitRule{{Equal: []string{""}}}},
		`spec.muteTimeIntervals[0]: refused by Alertmanager: yaml: `: {
			intervals: []MuteInterval{{Name: "i", TimeIntervals: []TimePeriod{{Years: []string{"soon"}}}}}},
		`spec: refused by Alertmanager: undefined receiver "c" used in route`: {
			route: &Route{Receiver: "c"}},
	} {
		config, secret := configOf(t, `{}`), &corev1.Secret{StringData: map[string]string{"url": bad + "\n"}}
		secret.Namespace, secret.Name = config.Namespace, "a"
		var static assets.Static
		static.AddSecret(secret)
		c := newCompiler(config, settings.target, dialect{true, true}, Globals{}, &static)
		if _, err := c.SecretKey(corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Key: "url"}); err != nil {
			t.Fatal(err)
		}
		sections, _, err := add.encode(settings.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = c.try(add, sections, &settings.trial)
		if err == nil || !strings.HasPrefix(err.Error(), strings.TrimSuffix(want, "yaml: ")) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestReceiversWithoutARoute: an AlertmanagerConfig without a route is not rejected because of its receivers,
// which are unused.
func TestReceiversWithoutARoute(t *testing.T) {
	config := configOf(t, `{receivers: [{name: r, webhookConfigs: [{urlSecret: {name: none, key: a}}]}], inhibitRules: [{sourceMatch: [{name: a, value: b}], targetMatch: [{name: a, value: c}]}]}`)
	f := Compile(config, settingsOf("0.25.0", AnyGlobals), &assets.Static{})
	if f.Err != nil || len(f.YAML[InhibitRules]) == 0 || len(f.YAML[Receivers]) > 0 {
		t.Errorf("%v: %q", f.Err, f.YAML)
	}
}

package routing

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// at is a Sunday.
var at = time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC)

func parsed(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

// For any tree and labels, the deliveries are equal to those of the dispatcher, whether all routes
// are shown or not.
func FuzzRoute(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := parsed(t, randomTree(r))
		labels := Labels{}
		for _, name := range []model.LabelName{"a", "b", "c"} {
			if value := r.IntN(3); value > 0 {
				labels[name] = model.LabelValue(fmt.Sprint(value))
			}
		}
		want := c.root.Match(labels)
		for _, all := range []bool{false, true} {
			report := c.Route(Question{Labels: labels, At: at, All: all}, Origins{File: "a"})
			if n := len(report.Deliveries()); n != len(want) {
				t.Fatalf("all = %v, %s: %d deliveries, want %d", all, labels, n, len(want))
			}
			for i, d := range report.Deliveries() {
				if m := want[i]; d.Receiver.Name != m.RouteOpts.Receiver || !strings.HasPrefix(d.GroupKey, m.Key()+":") {
					t.Errorf("delivery %d by %s %s, want %s %s", i, d.Receiver.Name, d.GroupKey, m.RouteOpts.Receiver, m.Key())
				}
			}
			if !all {
				unmatched(t, report.Route)
			}
		}
	})
}

// unmatched reports the routes that do not match. Those that match and are not evaluated have no result.
func unmatched(t *testing.T, s Step) {
	if s.Matched == (s.EndedBy != "") || s.Miss != nil || s.EndedBy != "" && len(s.Routes) > 0 {
		t.Errorf("%s does not match but is shown", s.Path)
	}
	for _, below := range s.Routes {
		unmatched(t, below)
	}
}

// randomTree returns a configuration with a random tree of routes.
func randomTree(r *rand.Rand) string {
	return "route:\n  receiver: r0\n" + randomRoutes(r, "  ", 0) + "receivers: [{name: r0}, {name: r1}, {name: r2}]\n"
}

func randomRoutes(r *rand.Rand, indent string, depth int) string {
	n := r.IntN(4)
	if n == 0 || depth > 3 {
		return ""
	}
	out := indent + "routes:\n"
	for range n {
		out += fmt.Sprintf("%s- continue: %v\n", indent, r.IntN(2) == 0)
		if r.IntN(2) == 0 {
			out += fmt.Sprintf("%s  receiver: r%d\n", indent, r.IntN(3))
		}
		label, value := string(rune('a'+r.IntN(3))), r.IntN(3)
		switch r.IntN(5) {
		case 0:
			out += fmt.Sprintf("%s  match: {%s: '%d'}\n", indent, label, value)
		case 1:
			out += fmt.Sprintf("%s  match_re: {%s: '[%d2]?'}\n", indent, label, value)
		case 2:
			out += fmt.Sprintf("%s  matchers: ['%s!=%d', b=~\".*\"]\n", indent, label, value)
		case 3:
			out += fmt.Sprintf("%s  matchers: ['%s=%d']\n", indent, label, value)
		}
		if r.IntN(3) == 0 {
			out += fmt.Sprintf("%s  group_by: [%s]\n", indent, []string{"a", "a, c", "'...'"}[r.IntN(3)])
		}
		out += randomRoutes(r, indent+"  ", depth+1)
	}
	return out
}

// Configurations that Alertmanager rejects are rejected, without values in the error.
func TestParseBadInput(t *testing.T) {
	const routes = "route: {receiver: a}\nreceivers:\n- name: a\n"
	for name, tc := range map[string]struct{ text, want string }{
		"empty":                    {"", "no route provided in config"},
		"no YAML":                  {"route: [", "did not find expected node content"},
		"a manifest":               {"kind: Alertmanager\nspec: {}\n", "field kind not found"},
		"an unknown receiver":      {"route: {receiver: b}\nreceivers: [{name: a}]\n", `undefined receiver "b" used in route`},
		"a wrong regexp":           {"route: {receiver: a, routes: [{matchers: ['a=~\"(\"']}]}\nreceivers: [{name: a}]\n", "missing closing )"},
		"an unknown interval":      {"route: {receiver: a, routes: [{mute_time_intervals: [x]}]}\nreceivers: [{name: a}]\n", `undefined time interval "x" used in route`},
		"a URL with a secret":      {routes + "  slack_configs: [{api_url: \"https://hunter2\\x7f\", channel: b}]\n", "invalid control character"},
		"a scheme with a secret":   {routes + "  slack_configs: [{api_url: \"hunter2://a\", channel: b}]\n", "unsupported scheme <hidden> for URL"},
		"a secret of a wrong type": {routes + "  pagerduty_configs: [{routing_key: [hunter2]}]\n", "cannot unmarshal"},
		"a secret where a list is": {routes + "  pagerduty_configs: hunter2\n", "cannot unmarshal !!str <hidden> into"},
		"a template with a secret": {routes + "  webhook_configs: [{url: \"https://{{ hunter2\"}]\n", "invalid template syntax: template: <hidden>"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("err = %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has the secret: %v", err)
			}
		})
	}
}

// everyIntegration is a receiver with one integration of each type.
const everyIntegration = `
global: {smtp_smarthost: "a:25", smtp_from: a@b, slack_api_url: "https://hunter2"}
route: {receiver: all}
receivers:
- name: all
  discord_configs: [{webhook_url: "https://hunter2"}]
  email_configs: [{to: ops@example, auth_password: hunter2}]
  incidentio_configs: [{url: "https://hunter2", alert_source_token: hunter2}]
  pagerduty_configs: [{routing_key: hunter2, send_resolved: false}]
  slack_configs: [{channel: '#a', api_url: "https://hunter2"}, {channel: '#b'}]
  webhook_configs: [{url: "https://hunter2"}]
  opsgenie_configs: [{api_key: hunter2}]
  wechat_configs: [{api_secret: hunter2, corp_id: c}]
  pushover_configs: [{user_key: hunter2, token: hunter2}]
  victorops_configs: [{api_key: hunter2, routing_key: hunter2}]
  sns_configs: [{topic_arn: "arn:a", sigv4: {region: a, access_key: hunter2, secret_key: hunter2}}]
  telegram_configs: [{bot_token: hunter2, chat_id: 42}]
  webex_configs: [{room_id: room, http_config: {authorization: {credentials: hunter2}}}]
  msteams_configs: [{webhook_url: "https://hunter2"}]
  msteamsv2_configs: [{webhook_url: "https://hunter2"}]
  jira_configs: [{api_url: "https://a", project: OPS, issue_type: Bug, http_config: {basic_auth: {username: a, password: hunter2}}}]
  rocketchat_configs: [{token: hunter2, token_id: hunter2, channel: '#c'}]
  mattermost_configs: [{webhook_url: "https://hunter2", channel: d}]
`

// The report names every type of integration without secrets.
func TestIntegrations(t *testing.T) {
	report := parsed(t, everyIntegration).Route(Question{Labels: Labels{"a": "b"}, At: at}, Origins{File: "a.yaml"})
	var got []string
	for _, i := range report.Deliveries()[0].Receiver.Integrations {
		got = append(got, fmt.Sprintf("%s %v", i, i.SendResolved))
	}
	want := []string{
		"discord true", "email ops@example false", "incidentio true", "pagerduty false", "slack #a false", "slack #b false", "webhook true",
		"opsgenie true", "wechat false", "pushover true", "victorops true", "sns arn:a true", "telegram 42 true", "webex room true",
		"msteams true", "msteamsv2 true", "jira OPS true", "rocketchat #c false", "mattermost d true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, format := range Formats {
		var out strings.Builder
		if err := report.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s has a secret:\n%s", format, out.String())
		}
	}
}

// A route is muted while one of its mute intervals is active, or none of its active intervals.
// Intervals are not inherited.
func TestMuted(t *testing.T) {
	const text = `
route:
  receiver: a
  routes:
  - %s
    routes: [{matchers: [b=c]}]
receivers: [{name: a, webhook_configs: [{url: "http://a"}]}]
mute_time_intervals:
- {name: nights, time_intervals: [{times: [{start_time: "22:00", end_time: "24:00"}]}]}
time_intervals:
- {name: work, time_intervals: [{weekdays: ["monday:friday"], location: Europe/Berlin}]}
- {name: sunday, time_intervals: [{weekdays: [sunday]}]}
`
	for name, tc := range map[string]struct {
		route string
		at    time.Time
		muted bool
	}{
		"a mute interval is active":     {"mute_time_intervals: [work, nights]", at, true},
		"no mute interval is active":    {"mute_time_intervals: [work, nights]", at.Add(-2 * time.Hour), false},
		"an active interval is active":  {"active_time_intervals: [work, sunday]", at, false},
		"no active interval is active":  {"active_time_intervals: [work]", at, true},
		"in the time zone of the user":  {"active_time_intervals: [work]", at.Add(30 * time.Minute), false}, // Monday in Berlin
		"both are active":               {"{active_time_intervals: [sunday], mute_time_intervals: [nights]}", at, true},
		"there are no intervals":        {"matchers: []", at, false},
		"the time of another time zone": {"mute_time_intervals: [nights]", at.In(time.FixedZone("x", 5*3600)), true},
	} {
		t.Run(name, func(t *testing.T) {
			route := tc.route
			if inner, ok := strings.CutPrefix(route, "{"); ok {
				route = strings.ReplaceAll(strings.TrimSuffix(inner, "}"), "], ", "]\n    ")
			}
			c := parsed(t, fmt.Sprintf(text, route))
			if got := c.Route(Question{Labels: Labels{"a": "b"}, At: tc.at}, Origins{}).Deliveries()[0].Muted; got != tc.muted {
				t.Errorf("muted: %v", got)
			}
			below := c.Route(Question{Labels: Labels{"b": "c"}, At: tc.at}, Origins{}).Deliveries()[0]
			if below.Muted || len(below.MuteTimeIntervals)+len(below.ActiveTimeIntervals) > 0 {
				t.Errorf("the route below has intervals: %+v", below)
			}
		})
	}
}

// A receiver has two names: in the configuration and in its AlertmanagerConfig.
func TestReaches(t *testing.T) {
	c := parsed(t, "route: {receiver: demo/team/a/b}\nreceivers: [{name: demo/team/a/b}]\n")
	report := c.Route(Question{Labels: Labels{"a": "b"}, At: at}, Origins{})
	for name, want := range map[string]bool{"demo/team/a/b": true, "a/b": true, "b": false, "team/a/b": false, "": false} {
		if got := report.Reaches(name); got != want {
			t.Errorf("reaches %q: %v", name, got)
		}
	}
}

func TestParseLabels(t *testing.T) {
	got, err := ParseLabels([]string{"a=b", "url=http://x?y=z", "größe.x=1"})
	if diff := cmp.Diff(Labels{"a": "b", "url": "http://x?y=z", "größe.x": "1"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]string{
		"severity": "want NAME=VALUE", "=x": "is not the name of a label", "a=": "the value is empty", "a!=b": "not a matcher",
		"a=~b":   "not a matcher",
		"a=\xff": "is not the name of a label", "x=1 x=2": "label x is given twice",
	} {
		if _, err := ParseLabels(strings.Fields(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The JSON of a report can be decoded again.
func TestJSON(t *testing.T) {
	report := parsed(t, everyIntegration).Route(Question{Labels: Labels{"a": "<b>"}, At: at, All: true}, Origins{File: "a.yaml"})
	var out strings.Builder
	if err := report.Write(&out, "json"); err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal([]byte(out.String()), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, again); diff != "" {
		t.Error(diff)
	}
}

// A null that makes Alertmanager's loader panic is an error.
func TestParseNull(t *testing.T) {
	for _, text := range []string{
		"route: {receiver: a, routes: [null]}\nreceivers: [{name: a}]",
		"global: {http_config: null}\nroute: {receiver: a}\nreceivers: [{name: a, slack_configs: [{api_url: 'https://a.b'}]}]",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "look for a null") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The paths of routes are as long as they are deep: a file of 100 KB with 2,000 levels would be a report of 50 MB.
func TestDeepRoutes(t *testing.T) {
	nested := func(levels int) string {
		return "receivers: [{name: a}]\nroute: {receiver: a, routes: [" + strings.Repeat("{receiver: a, routes: [", levels) + strings.Repeat("]}", levels) + "]}\n"
	}
	for levels, want := range map[int]string{100: "", 2000: "routes are nested deeper than 200 levels"} {
		_, err := Parse([]byte(nested(levels)))
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

package amconfig

import (
	"errors"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// baseOf compiles a text as the user's Secret.
func baseOf(version, text string) (Frame, error) {
	var objects assets.Static
	objects.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alertmanager-main"},
		StringData: map[string]string{v1.AlertmanagerConfigKey: text}})
	am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}
	return CompileBase(am, semver.MustParse(version), Base{}, &objects)
}

// receiverOf returns a document with one receiver.
func receiverOf(text string) string {
	return "route: {receiver: r}\nreceivers: [{name: r, " + text + "}]\n"
}

// TestBaseRefused has a row for each kind of invalid base: rejected by the loader, not
// supported by the version, or with keys that must not be dropped silently.
func TestBaseRefused(t *testing.T) {
	for name, tc := range map[string]struct{ version, text, want string }{
		"no YAML":              {text: "route: [hunter2", want: `yaml: line 1: did not find expected ',' or ']'`},
		"a scalar":             {text: "hunter2-hunter2", want: "line 1: want an object with route and receivers, got text"},
		"an unknown anchor":    {text: "global: {smtp_auth_password: *hunter2}", want: `yaml: unknown anchor … referenced`},
		"a long text, aliased": {text: "route: {receiver: r}\ntemplates: [&a " + strings.Repeat("hunter2", 70_000) + strings.Repeat(", *a", 2000) + "]\n", want: "the document is too large when its aliases are replaced"},
		"no route":             {text: "receivers: [{name: r}]", want: `no routes provided`},
		"an unknown key":       {text: receiverOf("slack: []"), want: `line 2: unknown field slack`},
		"a key twice":          {text: receiverOf("name: r"), want: `line 2: a key is written twice in one map`},
		"root with matchers":   {text: "route: {receiver: r, matchers: [a=b]}\nreceivers: [{name: r}]", want: "root route must not have any matchers"},
		"an empty matcher":     {text: "route: {receiver: r, routes: [{matchers: [{}]}]}\nreceivers: [{name: r}]", want: "line 1: got an object where another value belongs"},
		"root with match":      {text: "route: {receiver: r, match: {a: b}}\nreceivers: [{name: r}]", want: "root route must not have any matchers"},
		"root with continue":   {text: "route: {receiver: r, continue: true}\nreceivers: [{name: r}]", want: "cannot have continue in root route"},
		"root with mutes":      {text: "route: {receiver: r, mute_time_intervals: [a]}\nreceivers: [{name: r}]", want: "root route must not have any mute time intervals"},
		"root with active":     {text: "route: {receiver: r, active_time_intervals: [a]}\nreceivers: [{name: r}]", want: "root route must not have any active time intervals"},
		"root without":         {text: "route: {group_by: [a]}\nreceivers: [{name: r}]", want: "root route must specify a default receiver"},
		"undefined receiver":   {text: "route: {receiver: s}\nreceivers: [{name: r}]", want: `undefined receiver "s" used in route`},
		"a wrong URL":          {text: receiverOf(`slack_configs: [{api_url: "hunter2://hunter2"}]`), want: `receivers[0].slack_configs[0].api_url: the value is not valid`},
		"a wrong global URL":   {text: "global: {slack_api_url: hunter2}\n" + receiverOf(`slack_configs: [{channel: a}]`), want: `line 1: global.slack_api_url: want a URL that begins with http:// or https:// and has a host`},
		"a number too many":    {text: receiverOf(`telegram_configs: [{chat_id: hunter2, bot_token: hunter2}]`), want: "line 2: cannot unmarshal !!str `hidden` into int64"},
		"a wrong duration":     {text: receiverOf(`webhook_configs: [{url: "https://hunter2.example.org", timeout: soon}]`), want: "line 2: cannot unmarshal !!str `soon` into time.Duration"},
		"a panic":              {text: "global: {http_config: null}\n" + receiverOf(`slack_configs: [{api_url: "https://hunter2.example.org"}]`), want: "the loader panics at a null: global.http_config"},
		"a key merged twice":   {text: receiverOf(`pagerduty_configs: [&p {routing_key: hunter2, details: {a: hunter2}}, {<<: *p, details: {a: hunter2}}]`), want: "line 2: key … already set in map (by a merge key, or an alias)"},
		"a null integration":   {text: "global: {slack_api_url: 'https://hunter2.b'}\n" + receiverOf("slack_configs: [{channel: a}, null]"), want: "receivers[0].slack_configs[1]: is null: write its settings, or remove the dash"},
		"a null route":         {text: "route: {receiver: r, routes: [{receiver: r}, null]}\nreceivers: [{name: r}]", want: "the loader panics at a null: route.routes[1]"},
		"matchers of a route":  {version: "0.21.0", text: "route: {receiver: r, routes: [{matchers: [a=b]}]}\nreceivers: [{name: r}]", want: "route.routes[0].matchers: needs Alertmanager >= 0.22.0"},
		"matchers of source":   {version: "0.21.0", text: receiverOf("") + "inhibit_rules: [{source_matchers: [a=b]}]", want: "inhibit_rules[0].source_matchers: needs Alertmanager >= 0.22.0"},
		"matchers of target":   {version: "0.21.0", text: receiverOf("") + "inhibit_rules: [{target_matchers: [a=b]}]", want: "inhibit_rules[0].target_matchers: needs Alertmanager >= 0.22.0"},
		"UTF-8 in equal":       {version: "0.27.0", text: receiverOf("") + "inhibit_rules: [{equal: [a.b]}]", want: "inhibit_rules[0].equal[0]: has a label name that Alertmanager reads since 0.28.0 only"},
		"UTF-8 in group_by":    {version: "0.26.0", text: "route: {receiver: r, group_by: [a.b]}\nreceivers: [{name: r}]", want: "route.group_by[0]: has a label name that"},
		"UTF-8 in matchers":    {version: "0.26.0", text: "route: {receiver: r, routes: [{matchers: ['a.b=c']}]}\nreceivers: [{name: r}]", want: "route.routes[0].matchers[0]: has a label name that"},

		"authorization":          {version: "0.21.0", text: receiverOf(`webhook_configs: [{url: "https://a.b", http_config: {authorization: {credentials: hunter2}}}]`), want: "receivers[0].webhook_configs[0].http_config.authorization: needs Alertmanager >= 0.22.0"},
		"global oauth2":          {version: "0.21.0", text: "global: {http_config: {oauth2: {client_id: a, client_secret: hunter2, token_url: 'https://a.b'}}}\n" + receiverOf(""), want: "global.http_config.oauth2: needs Alertmanager >= 0.22.0"},
		"TLS versions":           {text: receiverOf(`webhook_configs: [{url: "https://a.b", http_config: {tls_config: {min_version: TLS13, max_version: TLS12}}}]`), want: "http_config.tls_config.max_version: is lower than min_version"},
		"a reserved header":      {text: receiverOf(`webhook_configs: [{url: "https://a.b", http_config: {http_headers: {Host: {secrets: [hunter2]}}}}]`), want: `setting header "Host" is not allowed`},
		"threading":              {text: receiverOf(`email_configs: [{to: a@b, from: a@b, smarthost: "a:1", threading: {enabled: false}}]`), want: "email_configs[0].threading: thread_by_date must be daily or none"},
		"a team of teams":        {version: "0.23.0", text: receiverOf(`opsgenie_configs: [{api_key: hunter2, responders: [{name: a, type: teams}]}]`), want: `responders[0].type: "teams" needs Alertmanager >= 0.24.0`},
		"details":                {version: "0.29.0", text: receiverOf(`pagerduty_configs: [{routing_key: hunter2, details: {a: [1]}}]`), want: "pagerduty_configs[0].details.a: must be a string before Alertmanager 0.30.0"},
		"files of pushover":      {version: "0.25.0", text: receiverOf(`pushover_configs: [{user_key_file: /a, token: hunter2}]`), want: "pushover_configs[0]: has no user_key"},
		"token of pushover":      {version: "0.25.0", text: receiverOf(`pushover_configs: [{user_key: hunter2, token_file: /a}]`), want: "pushover_configs[0]: has no token"},
		"update_message":         {text: receiverOf(`slack_configs: [{api_url: "https://hunter2.b", update_message: true}]`), want: "receivers[0]: update_message can only be used with bot tokens"},
		"update_message alone":   {text: "global: {slack_api_url: 'https://slack.com/api/chat.postMessage'}\n" + receiverOf(`slack_configs: [{channel: a}, {channel: a, update_message: true}]`), want: "receivers[0].slack_configs[1].update_message: needs an api_url beside it: https://slack.com/api/chat.postMessage"},
		"external_id":            {text: receiverOf(`sns_configs: [{topic_arn: a, sigv4: {region: a, external_id: hunter2}}]`), want: "external_id"},
		"telegram":               {version: "0.23.0", text: receiverOf(`telegram_configs: [{chat_id: 1, bot_token: hunter2}]`), want: "receivers[0].telegram_configs: needs Alertmanager >= 0.24.0"},
		"telegram without token": {version: "0.30.0", text: "global: {telegram_bot_token: hunter2}\n" + receiverOf(`telegram_configs: [{chat_id: 1}]`), want: "telegram_configs[0]: has no bot_token; the global one needs Alertmanager >= 0.31.0"},
		"telegram without chat":  {version: "0.30.0", text: receiverOf(`telegram_configs: [{chat_id_file: /a, bot_token: hunter2}]`), want: "telegram_configs[0]: has no chat_id"},
		"a URL in a template":    {version: "0.30.0", text: receiverOf(`webhook_configs: [{url: "{{ .CommonLabels.hunter2 }}"}]`), want: "receivers[0].webhook_configs[0].url: a template needs Alertmanager >= 0.31.0"},
		"api_key_file":           {version: "0.24.0", text: receiverOf(`opsgenie_configs: [{api_url: "https://a.b/", api_key_file: /hunter2}]`), want: "receivers[0].opsgenie_configs[0].api_key_file: is refused beside api_url by Alertmanager 0.24"},
		"discord":                {version: "0.24.0", text: receiverOf(`discord_configs: [{webhook_url: "https://hunter2.b"}]`), want: "receivers[0].discord_configs: needs Alertmanager >= 0.25.0"},
		"webex":                  {version: "0.24.0", text: receiverOf(`webex_configs: [{room_id: a, http_config: {authorization: {credentials: hunter2}}}]`), want: "receivers[0].webex_configs: needs Alertmanager >= 0.25.0"},
		"msteams":                {version: "0.25.0", text: receiverOf(`msteams_configs: [{webhook_url: "https://hunter2.b"}]`), want: "receivers[0].msteams_configs: needs Alertmanager >= 0.26.0"},
		"msteamsv2":              {version: "0.27.0", text: receiverOf(`msteamsv2_configs: [{webhook_url: "https://hunter2.b"}]`), want: "receivers[0].msteamsv2_configs: needs Alertmanager >= 0.28.0"},
		"jira":                   {version: "0.27.0", text: receiverOf(`jira_configs: [{api_url: "https://hunter2.b", project: a, issue_type: b}]`), want: "receivers[0].jira_configs: needs Alertmanager >= 0.28.0"},
		"jira's type":            {text: receiverOf(`jira_configs: [{api_url: "https://hunter2.b", project: a, issue_type: b, api_type: c}]`), want: "receivers[0]: "},
		"telegram's URL":         {version: "0.24.0", text: receiverOf(`telegram_configs: [{bot_token: hunter2, chat_id: 1}]`), want: "telegram_configs[0]: has no api_url; the global one needs Alertmanager >= 0.25.0"},
		"rocketchat":             {version: "0.27.0", text: receiverOf(`rocketchat_configs: [{token: hunter2, token_id: hunter2}]`), want: "receivers[0].rocketchat_configs: needs Alertmanager >= 0.28.0"},
		"mattermost":             {version: "0.29.0", text: receiverOf(`mattermost_configs: [{webhook_url: "https://hunter2.b", text: a}]`), want: "receivers[0].mattermost_configs: needs Alertmanager >= 0.30.0"},
		"mattermost's URL":       {version: "0.31.0", text: "global: {mattermost_webhook_url: 'https://hunter2.b'}\n" + receiverOf(`mattermost_configs: [{text: a}]`), want: "mattermost_configs[0]: has no webhook_url; the global one needs Alertmanager >= 0.32.0"},
		"incidentio":             {version: "0.28.0", text: receiverOf(`incidentio_configs: [{url: "https://hunter2.b", alert_source_token: hunter2}]`), want: "receivers[0].incidentio_configs: needs Alertmanager >= 0.29.0"},
		"slack loses its token":  {version: "0.29.0", text: receiverOf(`slack_configs: [{app_token: hunter2, channel: a}]`), want: "without what Alertmanager 0.29.0 does not know: receivers[0]: no Slack API URL nor App token set either inline or in a file"},
		"webhook loses its file": {version: "0.25.0", text: receiverOf(`webhook_configs: [{url_file: /a}]`), want: "without what Alertmanager 0.25.0 does not know: "},
	} {
		t.Run(name, func(t *testing.T) {
			version := newestVersion
			if tc.version != "" {
				version = tc.version
			}
			f, err := baseOf(version, tc.text)
			switch {
			case err == nil:
				t.Fatal("no error")
			case !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), `spec.configSecret: Secret "default/alertmanager-main": key "alertmanager.yaml": `):
				t.Errorf("got  %v\nwant %s", err, tc.want)
			case strings.Contains(err.Error(), "hunter2"), strings.Contains(err.Error(), "hunt"):
				t.Errorf("a secret is shown: %v", err)
			case len(f.Deps) != 1 || f.Head != nil:
				t.Errorf("the frame is %+v", f)
			}
		})
	}
}

// TestBaseInClassicMode: the mode refuses the same label names as versions before 0.27.0.
func TestBaseInClassicMode(t *testing.T) {
	for text, want := range map[string]string{
		"route: {receiver: r, group_by: [a.b]}\nreceivers: [{name: r}]":                              "route.group_by[0]: has a label name that",
		"route: {receiver: r, routes: [{matchers: ['\"a.b\"=c']}]}\nreceivers: [{name: r}]":          "route.routes[0].matchers[0]: has a label name that",
		receiverOf("") + "inhibit_rules: [{equal: [a.b]}]":                                           "inhibit_rules[0].equal[0]: has a label name that",
		receiverOf("") + "inhibit_rules: [{source_matchers: ['\"a.b\"=c'], target_matchers: [a=b]}]": "inhibit_rules[0].source_matchers[0]: has a label name that",
		receiverOf("") + "inhibit_rules: [{source_matchers: [a=b], target_matchers: ['\"a.b\"=c']}]": "inhibit_rules[0].target_matchers[0]: has a label name that",
	} {
		version := targetOf(semver.MustParse(newestVersion))
		if _, err := parseBase([]byte(text), version, dialect{Matchers: true, UTF8: true}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		am := &v1.Alertmanager{}
		am.Spec.EnableFeatures = []string{classicMode}
		if _, err := parseBase([]byte(text), version, dialectOf(am, version)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBaseFaults: each fault of a file has its line, the path, and what to write instead.
func TestBaseFaults(t *testing.T) {
	const (
		route   = "route:\n  receiver: r\n  routes:\n  - "
		r       = "\nreceivers:\n- name: r\n"
		configs = "route: {receiver: r}\nreceivers:\n- name: r\n  "
		object  = "line 1: want an object with route and receivers"
	)
	for text, want := range map[string]string{
		route + `matchers: ["severity: critical"]` + r:                                             `line 4: route.routes[0].matchers[0]: bad matcher format: severity: critical; write severity="critical"`,
		route + `matchers: ['severity critical']` + r:                                              `line 4: route.routes[0].matchers[0]: bad matcher format: severity critical`,
		route + `matchers: [severity: critical]` + r:                                               `line 4: got an object where another value belongs; route.routes[0].matchers[0] is a string: write 'severity="critical"', the whole in quotes`,
		route + `matchers: [{name: a, value: b}, {name: c, value: d.*, matchType: =~}]` + r:        `line 4: got an object where another value belongs; route.routes[0].matchers[0] is a string: write 'a="b"', the whole in quotes` + "\n" + `line 4: got an object where another value belongs; route.routes[0].matchers[1] is a string: write 'c=~"d.*"', the whole in quotes`,
		route + `matchers: {a: b}` + r:                                                             `line 4: got an object where another value belongs; route.routes[0].matchers is a list of strings: write ['a="b"']`,
		route + "groupBy: [a]\n    groupWait: 1m" + r:                                              "line 4: unknown field groupBy, did you mean group_by?\nline 5: unknown field groupWait, did you mean group_wait?",
		route + `matchers: ['a=~"(b"']` + r:                                                        "line 4: route.routes[0].matchers[0]: error parsing regexp: missing closing ): `^(?:(b)$`",
		route + `match_re: {a: c, d: b**}` + r:                                                     "line 4: route.routes[0].match_re.d: error parsing regexp: invalid nested repetition operator: `**`",
		route + "receiver: s\n  - receiver: s" + r:                                                 `line 4: route.routes[0].receiver: undefined receiver "s" used in route; there is r`,
		route + "receiver: 'null'" + r:                                                             `line 4: route.routes[0].receiver: undefined receiver "null" used in route; add - name: 'null' to receivers, which discards its alerts`,
		route + "group_wait: 5 minutes" + r:                                                        `line 4: route.routes[0].group_wait: unknown unit " minutes" in duration "5 minutes"`,
		route + "receiver: r" + r + "- name: r\n":                                                  `line 7: receivers[1].name: notification config name "r" is not unique`,
		configs + "slack_configs:\n  - channel: a\n  - channel: b\n    api_url: https://hunter2.b": "line 5: receivers[0].slack_configs[0]: no Slack API URL nor App token set either inline or in a file; set api_url, or global.slack_api_url",
		configs + "slack_configs:\n  - channel: a\n  - channel: b":                                 "line 5: receivers[0].slack_configs[0]: no Slack API URL nor App token set either inline or in a file; set api_url, or global.slack_api_url\nline 6: receivers[0].slack_configs[1]: no Slack API URL nor App token set either inline or in a file; set api_url, or global.slack_api_url",
		configs + "pagerduty_configs: [{severity: a}]":                                             "line 4: receivers[0].pagerduty_configs[0]: missing service or routing key in PagerDuty config; set routing_key",
		configs + "opsgenie_configs: [{message: a}]":                                               "line 4: receivers[0].opsgenie_configs[0]: no global OpsGenie API Key set either inline or in a file; set api_key, or global.opsgenie_api_key",
		configs + "email_configs: [{to: a@b, from: c@d}]":                                          "line 4: receivers[0].email_configs[0]: no global SMTP smarthost set; set smarthost, or global.smtp_smarthost",
		configs + "email_configs: [{to: a@b, smarthost: 'c:25'}]":                                  "line 4: receivers[0].email_configs[0]: no global SMTP from set; set from, or global.smtp_from",
		configs + "slack_configs: [{api_url: 'https://hunter2.b', api_url_file: /a}]":              "line 4: receivers[0].slack_configs[0]: at most one of api_url & api_url_file must be configured",
		configs + "email_configs: [{to: a@b, from: c@d, smarthost: hunter2.b}]":                    "line 4: receivers[0].email_configs[0].smarthost: want host:port, such as smtp.example.com:587",
		configs + "webhook_configs: [{url: 'http://a'}]\ntime_intervals:\n- name: a\n  time_intervals: [{times: [{start_time: '20:00', end_time: '6:00'}]}]": "line 7: time_intervals[0].time_intervals[0].times[0].end_time: want hours and minutes of two digits each, such as 06:00",
		route + "match: ['a=\"b\"']" + r: `line 4: route.routes[0].match: want an object, such as {severity: critical}; write a list of matchers as matchers`,
		"inhibit_rules:\n- target_match_re:\n  - a=~b\n" + configs + "webhook_configs: [{url: 'http://a'}]": `line 3: inhibit_rules[0].target_match_re: want an object, such as {severity: critical}; write a list of matchers as target_matchers`,
		"Y29uZmlnOiBodW50ZXIyCmE6IGIK":                         object + ", got base64: the value is encoded twice; encode it once, or write it as it is into stringData",
		"alertmanager: {config: {route: {receiver: hunter2}}}": object + "; write only what is below alertmanager.config",
		"config: {receivers: [{name: hunter2}]}":               object + "; write only what is below config",
		"apiVersion: a\nkind: AlertmanagerConfig\nspec: {}":    object + ", got an AlertmanagerConfig, which is an object of its own: apply it, and select it with alertmanagerConfigSelector, or name it in alertmanagerConfiguration",
		"apiVersion: v1\nkind: Secret\nstringData: {}":         object + ", got a manifest",
		configs + "webhook_configs: [{url: 'https://a.b', payload: {matchers: [{name: a, value: hunter2}]}, max_alerts: {a: b}}]": "receivers[0]: line 4: got an object where another value belongs",
		route + `matchers: severity="critical"` + r + "templates: /etc/a/*.tmpl":                                                  "line 4: route.routes[0].matchers: want a list: ['severity=\"critical\"']\nline 7: templates: want a list: ['/etc/a/*.tmpl']",
		route + "group_wait: 10" + r:           "line 4: route.routes[0].group_wait: not a valid duration string: \"10\"; write 10s",
		route + `group_by: it's` + r:           "line 4: route.routes[0].group_by: want a list: ['it''s']",
		route + `match: severity=critical` + r: "line 4: route.routes[0].match: want an object",
		route + "receiver: r" + r + "time_intervals: [{name: a, time_intervals: [{weekdays: monday}]}]": "line 7: time_intervals[0].time_intervals[0].weekdays: want a list",
		configs + "webhook_configs: hunter2":                                                    "line 4: receivers[0].webhook_configs: want a list",
		configs + "webhook_configs: [{url: 'https://a.b', http_config: {basic_auth: hunter2}}]": "line 4: receivers[0].webhook_configs[0].http_config.basic_auth: want an object: {username: …, password: …}",
		configs + "webhook_configs: [{url: 'https://a.b', http_config: {authorization: hunter2}}, {url: 'https://a.b', http_config: {tls_config: hunter2}}]": "line 4: receivers[0].webhook_configs[0].http_config.authorization: want an object: {type: …, credentials: …}\nline 4: receivers[0].webhook_configs[1].http_config.tls_config: want an object: {ca: …, cert: …}",
		configs + "slack_configs: [{api_url: [hunter2], channel: x}]":                                                                                        "line 4: receivers[0].slack_configs[0].api_url: want one value, got a list",
		configs + "opsgenie_configs: [{api_key: a, responders: [hunter2]}]":                                                                                  "line 4: receivers[0].opsgenie_configs[0].responders[0]: want an object: {id: …, name: …}",
		"- route": object + ", got a list",
	} {
		_, err := baseOf(newestVersion, text)
		if err == nil {
			t.Errorf("%s\nno error", text)
			continue
		}
		got := strings.ReplaceAll(err.Error(), `spec.configSecret: Secret "default/alertmanager-main": key "alertmanager.yaml": `, "")
		if got != want || strings.Contains(got, "hunter2") {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestConfigBaseRefused checks the rules for a base that is an AlertmanagerConfig.
func TestConfigBaseRefused(t *testing.T) {
	const at = `spec.alertmanagerConfiguration.name: AlertmanagerConfig "team/web": `
	for spec, want := range map[string]string{
		`{}`: at + `spec.route: is missing; the configuration needs a root route`,
		`{route: {receiver: r, continue: true}, receivers: [{name: r}]}`:                                           at + `spec.route.continue: must not be set in the root route`,
		`{route: {receiver: r, matchers: [{name: a}]}, receivers: [{name: r}]}`:                                    at + `spec.route.matchers: must not be set in the root route`,
		`{route: {receiver: r, muteTimeIntervals: [i]}, receivers: [{name: r}], muteTimeIntervals: [{name: i}]}`:   at + `spec.route.muteTimeIntervals: must not be set in the root route`,
		`{route: {receiver: r, activeTimeIntervals: [i]}, receivers: [{name: r}], muteTimeIntervals: [{name: i}]}`: at + `spec.route.activeTimeIntervals: must not be set in the root route`,
		`{route: {receiver: s, matchers: [{name: a}], continue: true}, receivers: [{name: r}]}`:                    at + "spec.route.receiver: there is no receiver \"s\"; there is r\n" + at + "spec.route.continue: must not be set in the root route, which is for all alerts; write it into an item of routes\n" + at + `spec.route.matchers: must not be set`,
		`{route: {receiver: r}, receivers: [{name: r, emailConfigs: [{to: a@b}]}]}`:                                at + `spec.receivers[0].emailConfigs[0].smarthost: `,
		`{route: {receiver: s}, receivers: [{name: r}]}`:                                                           at + `spec.route.receiver: there is no receiver "s"`,
		`{route: {receiver: r}, receivers: [{name: r, slackConfigs: [{apiURL: {name: gone, key: url}}]}]}`:         at + `spec.receivers[0].slackConfigs[0].apiURL.name: Secret "team/gone" does not exist`,
	} {
		am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}}
		am.Spec.AlertmanagerConfiguration = &v1.AlertmanagerConfiguration{Name: "web"}
		_, err := CompileBase(am, semver.MustParse(newestVersion), Base{Config: configOf(t, spec)}, &assets.Static{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", spec, err, want)
		}
	}
}

// unreachable is a cluster that does not respond.
type unreachable struct{}

func (unreachable) Object(assets.Ref) (assets.Object, error) {
	return assets.Object{}, errors.New("connection refused")
}

// TestBaseUnreachable: the default configuration is only used if the Secret does not exist.
func TestBaseUnreachable(t *testing.T) {
	am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}
	for _, asIs := range []bool{true, false} {
		if _, err := CompileBase(am, semver.MustParse(newestVersion), Base{AsIs: asIs}, unreachable{}); !assets.IsTemporary(err) {
			t.Errorf("as is %v: %v", asIs, err)
		}
		f, err := CompileBase(am, semver.MustParse(newestVersion), Base{AsIs: asIs}, &assets.Static{})
		if err != nil || len(f.Deps) != 1 {
			t.Errorf("as is %v: %v, %v", asIs, err, f.Deps)
		}
	}
}

// TestNullElements: nulls that Alertmanager accepts do not cause a panic.
func TestNullElements(t *testing.T) {
	text := "route: {receiver: r, routes: [{receiver: r}]}\nreceivers: [{name: r, slack_configs: null, opsgenie_configs: []}, null]\n" +
		"templates: null\ninhibit_rules: [null]\n"
	for _, version := range []string{newestVersion, "0.21.0"} {
		if _, err := baseOf(version, text); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

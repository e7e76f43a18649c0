package amconfig

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// random generates objects of careless and of hostile users.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

func pick[T any](r random, of ...T) T { return of[r.IntN(len(of))] }

// strange lists texts that YAML, templates, config-reloader or the loader may misinterpret.
var strange = []string{
	"", "a", "yes", "~", "null", "0123", "1e3", "-", "- a", "a: b", "#", "a #b", "'", `"`, `\`, "a\nb", "\n", " a ", "\ta", "{{", "{{ .X }}", "*a", "&a",
	"!!int 1", "%", "@", "`", "|", ">", "[", "{", "]", "}", ",", "?", ":", "é", "\u2028", "\u0085", "\x00", "\x7f", "\ufeff", "$(POD_NAME)", "$(SHARD)", "-1", "---", "...", "<<", "=", "<secret>",
	"https://example.org/", "https://u:p@example.org/$(X)", "example.org:25", "1h", "0s", "foo.bar", "namespace", "text", "team/web/r", "../../x", strings.Repeat("long ", 60),
}

// text returns mostly harmless texts, so that most objects pass the first checks.
func (r random) text() string {
	if r.IntN(4) > 0 {
		return pick(r, "a", "b", "job", "severity", "critical")
	}
	return pick(r, strange...)
}

// byField holds valid values by field name.
var byField = map[string][]string{
	"url": {"https://example.org/", "https://example.org/a?b=c#d", "https://u:p@example.org"}, "apiurl": {"https://example.org/"}, "proxyurl": {"http://proxy:80"}, "tokenurl": {"https://example.org/"},
	"smarthost": {"example.org:25", "[::1]:25"}, "to": {"a@b"}, "from": {"a@b"}, "retry": {"1m", "25h"}, "expire": {"1h", "1w"}, "ttl": {"1h"}, "timeout": {"5s", "1d"},
	"messagetype": {"text", "markdown"}, "parsemode": {"HTML"}, "groupwait": {"30s", "0s"}, "groupinterval": {"5m", "0s"}, "repeatinterval": {"4h", "1w2d"},
	"minversion": {"TLS12"}, "maxversion": {"TLS13"}, "matchtype": {"=", "!=", "=~", "!~", ""}, "starttime": {"00:00", "09:30"}, "endtime": {"17:00", "24:00"},
	"weekdays": {"monday", "Monday:FRIDAY", "0:6"}, "months": {"1:3", "may", "january:12"}, "years": {"2030", "2030:2031"}, "threadbydate": {"Daily", "None"}, "type": {"team", "user"},
}

// fill sets fields randomly.
func (r random) fill(v reflect.Value, field string, depth int) {
	switch to := v.Addr().Interface().(type) {
	case *corev1.SecretKeySelector:
		to.Name, to.Key = "s", pick(r, "url", "url", "key", "key", "space", "gone")
		if strings.Contains(strings.ToLower(field), "url") {
			to.Key = pick(r, "url", "url", "space", "strange")
		}
		return
	case *v1.SecretOrConfigMap:
		if r.IntN(3) == 0 {
			to.Secret = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "key"}
		}
		return
	case *v1alpha1.Route:
		*to = r.route(depth)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		_, secret := v.Interface().(*corev1.SecretKeySelector)
		often := depth < 3 && (secret || v.Type().Elem().Kind() == reflect.String)
		if often && r.IntN(6) > 0 || !often && r.IntN(6) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), field, depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i), v.Type().Field(i).Name, depth+1)
		}
	case reflect.Slice:
		for range pick(r, 0, 0, 1, 2) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			r.fill(v.Index(v.Len()-1), field, depth+1)
		}
	case reflect.Map:
		if r.IntN(4) == 0 && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(r.text()), reflect.ValueOf(r.text()))
		}
	case reflect.String:
		field = strings.ToLower(field)
		if strings.HasSuffix(field, "url") {
			field = "url"
		}
		of := byField[field]
		switch {
		case len(of) > 0 && r.IntN(20) > 0:
			v.SetString(pick(r, of...))
		case r.IntN(8) > 0:
			v.SetString(r.text())
		}
	case reflect.Bool:
		v.SetBool(r.IntN(4) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(pick(r, 0, 1, 5, 28, -3, -1)))
	}
}

var receiverNames = []string{"r", "$(SHARD)", "a b", "x/y", "-1", "a\nb: c"}

func (r random) route(depth int) v1alpha1.Route {
	out := v1alpha1.Route{Receiver: pick(r, receiverNames...), Continue: r.IntN(2) == 0}
	if depth > 3 && r.IntN(2) == 0 {
		out.Receiver = ""
	}
	for range r.IntN(3) {
		out.Matchers = append(out.Matchers, v1alpha1.Matcher{Name: pick(r, "a", "job", "namespace", "é.x"), Value: pick(r, strange[:40]...), Regex: r.IntN(9) == 0})
	}
	for _, label := range []string{"job", "foo.bar", "é", "namespace"} {
		if r.IntN(5) == 0 {
			out.GroupBy = append(out.GroupBy, label)
		}
	}
	if r.IntN(4) == 0 {
		out.MuteTimeIntervals = []string{"i"}
	}
	r.fill(reflect.ValueOf(&out.GroupWait).Elem(), "groupwait", 9)
	r.fill(reflect.ValueOf(&out.RepeatInterval).Elem(), "repeatinterval", 9)
	for depth < 6 && r.IntN(2) == 0 {
		text, err := json.Marshal(r.route(depth + 1))
		if err != nil {
			panic(err)
		}
		out.Routes = append(out.Routes, apiextensionsv1.JSON{Raw: text})
		depth++
	}
	return out
}

// config returns a random object, occasionally with each of the integrations.
func (r random) config(namespace, name string) *v1alpha1.AlertmanagerConfig {
	out := &v1alpha1.AlertmanagerConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if r.IntN(8) > 0 {
		out.Spec.Route = new(r.route(0))
	}
	for _, name := range receiverNames {
		receiver := v1alpha1.Receiver{}
		lists := reflect.ValueOf(&receiver).Elem()
		if i := r.IntN(lists.NumField()); r.IntN(5) == 0 && lists.Field(i).Kind() == reflect.Slice {
			entry := reflect.New(lists.Field(i).Type().Elem()).Elem()
			r.fill(entry, "", 0)
			lists.Field(i).Set(reflect.Append(lists.Field(i), entry))
		}
		for i := range receiver.TelegramConfigs {
			receiver.TelegramConfigs[i].BotTokenFile = ""
		}
		for i := range receiver.PushoverConfigs {
			receiver.PushoverConfigs[i].TokenFile, receiver.PushoverConfigs[i].UserKeyFile = "/secrets/token", "/secrets/user"
		}
		for i := range receiver.SNSConfigs {
			receiver.SNSConfigs[i].PhoneNumber, receiver.SNSConfigs[i].TargetARN = "", ""
		}
		receiver.Name = name
		out.Spec.Receivers = append(out.Spec.Receivers, receiver)
	}
	interval := v1alpha1.MuteTimeInterval{}
	if r.IntN(3) == 0 {
		r.fill(reflect.ValueOf(&interval).Elem(), "", 0)
	}
	interval.Name = "i"
	out.Spec.MuteTimeIntervals = []v1alpha1.MuteTimeInterval{interval}
	if r.IntN(3) == 0 {
		r.fill(reflect.ValueOf(&out.Spec.InhibitRules).Elem(), "", 0)
	}
	return out
}

// secrets returns the Secrets that random objects refer to.
func (r random) secrets(namespaces ...string) *assets.Static {
	var out assets.Static
	for _, namespace := range namespaces {
		out.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}, StringData: map[string]string{
			"url": "https://hunter2.example.org/" + pick(r, "", "$(X)", "?a=b#c", " x"), "key": pick(r, "hunter2", "hunter2\n", "hunter2: {", "hunter2 $(A)"),
			"space": "  https://hunter2.example.org/\n", "strange": "hunter2" + r.text(),
		}})
	}
	return &out
}

// base returns a random user-supplied document.
func (r random) base() string {
	var out strings.Builder
	out.WriteString("global:\n  resolve_timeout: 5m\n")
	for _, line := range []string{
		"smtp_from: a@b", "smtp_smarthost: 'a:25'", "slack_api_url: https://hunter2.b/", "opsgenie_api_key: 0123", "victorops_api_key: yes", "wechat_api_secret: \"a\\nb\"",
		"wechat_api_corp_id: 'x'", "rocketchat_token: '#'", "rocketchat_token_id: ~", "victorops_api_url: null", "telegram_bot_token: $(X)", "slack_app_url: https://slack.com/api/chat.postMessage",
	} {
		if r.IntN(2) == 0 {
			fmt.Fprintf(&out, "  %s\n", line)
		}
	}
	out.WriteString("receivers:\n- name: base\n")
	for i, line := range []string{
		"slack_configs: [{api_url: 'https://a.b/', text: |-\n    {{ x }}\n      y\n    z}]", "webhook_configs: [{url: 'https://a.b/', timeout: 5s, http_config: {no_proxy: a, proxy_url: 'http://p'}}]",
		"pushover_configs: [{user_key: 1_0, token: 0x1F, ttl: 1h, message: >\n    folded\n    text\n\n    more}]", "email_configs: [{to: a@b, from: a@b, smarthost: 'a:1', headers: {a: 012, B: yes}}]",
		"opsgenie_configs: [{api_key: k, details: {a: 1.10, b: 2001-01-01}}]", "pagerduty_configs: [{routing_key: k, details: {a: b}}]", "webhook_configs: [&a {url: 'https://a.b/'}, *a, {<<: *a, max_alerts: 3}]",
	} {
		if r.IntN(2) == 0 && !strings.Contains(line, "\n") {
			fmt.Fprintf(&out, "- name: n%d # note\n  %s\n", i, line)
		}
	}
	out.WriteString(pick(r, "", "templates: [a, 'b']\n", "tracing: {endpoint: 'a:1', insecure: true}\n", "inhibit_rules: []\n", "mute_time_intervals: [{name: m, time_intervals: []}]\n"))
	out.WriteString("route: {receiver: base, routes: [" + pick(r, "", "{matchers: [a=b, c=~\"d|e\"]}", "{match: {a: b}}, {match_re: {c: d}, routes: [{continue: true}]}") + "]}\n")
	return out.String()
}

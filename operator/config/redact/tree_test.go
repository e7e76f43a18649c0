package redact

import (
	"maps"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestTree(t *testing.T) {
	for _, tc := range []struct {
		tree       Tree
		text, want string
	}{
		{Tree{}, "token: a", "token: <hidden>\n"},
		{Tree{}, "password_file: /a\ntoken_url: https://a/b\nbasic_auth: {username: a, password: 1}", "password_file: /a\ntoken_url: https://a/b\nbasic_auth: {username: <hidden>, password: <hidden>}\n"},
		{Tree{}, "token: true", "token: true"},
		{Tree{}, "http_headers: {X: {values: [true, a, null]}}", "http_headers: {X: {values: [<hidden>, <hidden>, null]}}\n"},
		{Tree{}, "a: https://u:p@host/x?y=z", "a: https://<hidden>@host/x?y=<hidden>\n"},
		{Tree{}, "params: {module: [a], other: [b]}", "params: {module: [a], other: [<hidden>]}\n"},
		{Tree{}, "{target_label: __param_a, source_labels: [b], regex: c, replacement: d}", "{target_label: __param_a, source_labels: [b], regex: <hidden>, replacement: <hidden>}\n"},
		{Tree{}, "{target_label: __param_target, source_labels: [b], regex: c}", "{target_label: __param_target, source_labels: [b], regex: c}"},
		{Tree{}, "source_labels: [a]\nregex: b?c\naction: keep\n", "source_labels: [a]\nregex: b?c\naction: keep\n"},
		{Tree{}, "regex: (.*)\nreplacement: |-\n  a\n  b\ntarget_label: __param_a\n", "regex: <hidden>\nreplacement: <hidden>\ntarget_label: __param_a\n"},
		{Tree{Fields: true}, "basicAuth: {username: {name: a, key: b}}", "basicAuth: {username: {name: a, key: b}}"},
		{Tree{Fields: true}, "bearerToken: a", "bearerToken: <hidden>\n"},
		{Tree{Fields: true}, "token: {name: a, key: b, value: c}", "token: {name: a, key: <hidden>, value: c}\n"},
		{Tree{Fields: true}, "{targetLabel: __param_a, replacement: d}", "{targetLabel: __param_a, replacement: <hidden>}\n"},
		{Tree{Paths: AllPaths}, "a: https://host/b/c", "a: https://host/<hidden>\n"},
		{Tree{Paths: LongPaths}, "a: https://host/push/0123456789abcdef0123/b", "a: https://host/push/<hidden>/b\n"},
		{Tree{Values: valuesOf("hunter2")}, "a: [x hunter2, b]", "a: [<hidden>, b]\n"},
		{Tree{}, "", ""},
	} {
		if got, err := tc.tree.Text(tc.text); got != tc.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", tc.text, got, err, tc.want)
		}
	}
	if got, err := (Tree{}).Text("a: [hunter2"); err == nil || err.Error() != "not YAML" || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://user:pass@host/x?a=b&token=c":          "http://host/x?a=<hidden>&token=<hidden>",
		"http://host/x?module=a&target=https://u:p@b/": "http://host/x?module=a&target=https%3A%2F%2F<hidden>%40b%2F",
		"http://host/x":    "http://host/x",
		"http://u:p@%zz/":  "http://<hidden>@%zz/",
		"host/path?a=b":    "host/path?a=<hidden>",
		"":                 "",
		"http://host/?a&b": "http://host/?a&b",
	} {
		if got := URL(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	given := map[string]string{"__param_token": "a", "__param_module": "b", "site": "https://u:p@host/", "plain": "c"}
	before := maps.Clone(given)
	want := map[string]string{"__param_token": Hidden, "__param_module": "b", "site": "https://" + Hidden + "@host/", "plain": "c"}
	if got := Labels(given); !maps.Equal(got, want) || !maps.Equal(given, before) {
		t.Errorf("%v of %v", got, given)
	}
	for label, want := range map[string]bool{"__param_a": true, "__param_match[]": false, "password": false} {
		if Label(label) != want {
			t.Errorf("%s: %t", label, !want)
		}
	}
}

// Errors of parsers are shown without the values that they quote.
func TestErrors(t *testing.T) {
	if got, want := Quoted("a `b` \"c\\\"d\" e"), "a … … e"; got != want {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"undefined receiver \"x\" used": "undefined receiver \"x\" used", "parse \"http://a\": b": "parse <hidden>: b", "`a` into int": "<hidden> into int",
		"template: :1: function \"x\"": "template: <hidden>",
	} {
		if got := AlertmanagerError(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Only the plain parts of an Alertmanager's own file are shown.
func TestSection(t *testing.T) {
	for _, tc := range []struct{ section, text, want string }{
		{"receivers", "[{name: a, slack_configs: [{channel: b, send_resolved: true, fields: [{name: c}]}]}]", "[{name: a, slack_configs: [{channel: <hidden>, send_resolved: true, fields: [{name: <hidden>}]}]}]\n"},
		{"route", "{route: {receiver: a, matchers: [b], odd: c, routes: [{receiver: d}]}}", "{route: {receiver: a, matchers: [b], odd: <hidden>, routes: [{receiver: d}]}}\n"},
		{"templates", "[a]", "[a]\n"},
		{"odd", "{odd: {a: b}}", "{odd: {a: <hidden>}}\n"},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(tc.text), &doc); err != nil {
			t.Fatal(err)
		}
		hidden := Section(doc.Content[0], tc.section)
		if got, err := Encode(doc.Content[0]); got != tc.want || err != nil || hidden != (tc.section != "templates") {
			t.Errorf("%s: %t %q, %v, want %q", tc.section, hidden, got, err, tc.want)
		}
	}
	for path, hidden := range map[string]bool{
		"route.receiver": false, "inhibit_rules[0].a": false, "receivers[0].name": false, "receivers[0].slack_configs[0].api_url": true, "global.x": true, "odd": true,
	} {
		if InError(path) != hidden {
			t.Errorf("%s: %t", path, !hidden)
		}
	}
}

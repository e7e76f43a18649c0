package amconfig

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestMergedMaps: values merged into an existing map have the same meaning to
// Alertmanager before and after.
func TestMergedMaps(t *testing.T) {
	for name, text := range map[string]string{
		"match": `
route:
  receiver: a
  routes:
  - &x {receiver: a, match: {a: b, c: d}, match_re: {e: f}, group_wait: 1s}
  - {<<: *x, match: {f: g}, match_re: {g: h}}
  - {match: {f: g}, match_re: {g: x}, <<: *x}
receivers: [{name: a}]
inhibit_rules:
- &i {source_match: {a: b}, target_match: {c: d}, source_match_re: {e: f}, target_match_re: {g: h}, equal: [a]}
- {<<: *i, source_match: {b: b}, target_match: {d: d}, source_match_re: {f: f}, target_match_re: {h: h}, equal: [b]}
`,
		"receivers": `
route: {receiver: a}
receivers:
- name: a
  pagerduty_configs:
  - &p {routing_key: k, details: {a: b, c: d}, http_config: &h {bearer_token: t, proxy_url: 'http://p'}, links: [{text: a, href: b}]}
  - {<<: *p, details: {e: f}, links: [{text: c}], http_config: {bearer_token: u}}
  email_configs:
  - &e {to: a, from: b, smarthost: 'c:1', headers: {A: b, C: d}, tls_config: {server_name: a, insecure_skip_verify: true}}
  - {<<: *e, headers: {D: e}, tls_config: {server_name: b}}
  - &t {to: a, from: b, smarthost: 'c:1', threading: {enabled: true, thread_by_date: daily}}
  - {<<: *t, threading: {thread_by_date: none}}
  victorops_configs:
  - &v {api_key: k, routing_key: r, custom_fields: {a: b}}
  - {<<: *v, custom_fields: {c: d}}
  sns_configs:
  - &s {topic_arn: t, sigv4: {region: r, profile: p}, attributes: {a: b}}
  - {<<: *s, attributes: {c: d}, sigv4: {region: q}}
  webhook_configs:
  - &w {url: 'https://a.b', http_config: {<<: *h, bearer_token: w}}
  - {<<: *w, http_config: {basic_auth: {username: a, password: b}}}
  - {url: 'https://a.b', http_config: &b {basic_auth: {username: a, password: b}, tls_config: {server_name: a, insecure_skip_verify: true}}}
  - {url: 'https://a.b', http_config: {<<: *b, basic_auth: {username: c}, tls_config: {server_name: b}}}
  - {url: 'https://a.b', http_config: &o {oauth2: {client_id: a, client_secret: b, token_url: 'https://a.b', scopes: [a], endpoint_params: {a: b}, tls_config: {server_name: a}}}}
  - {url: 'https://a.b', http_config: {<<: *o, oauth2: {client_id: c, endpoint_params: {c: d}, tls_config: {insecure_skip_verify: true}}}}
  - {url: 'https://a.b', http_config: &z {authorization: {type: T, credentials: c}}}
  - {url: 'https://a.b', http_config: {<<: *z, authorization: {credentials: d}}}
  slack_configs:
  - &c {api_url: 'https://a.b', fields: [{title: a, value: b}], actions: [&q {type: a, text: b, url: c, confirm: {text: a, title: b}}, {<<: *q, confirm: {text: c}}]}
  - {<<: *c, fields: [{title: c, value: d}]}
`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := load([]byte(text)); err != nil {
				t.Fatal(err)
			}
			f, err := baseOf(newestVersion, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := meaning(t, document(&f, nil)), meaning(t, []byte(text)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestLargeMaps: maps of many keys are merged like small ones, in linear time.
func TestLargeMaps(t *testing.T) {
	var base, own, want strings.Builder
	for i := range 3 * largeMap {
		fmt.Fprintf(&base, "  k%d: base\n", i)
		if i%2 == 0 {
			fmt.Fprintf(&own, "  k%d: own\n", i)
		}
		fmt.Fprintf(&want, "  k%d: %s\n", i, map[bool]string{true: "own", false: "base"}[i%2 == 0])
	}
	root, err := parseTree([]byte("a: &a\n" + base.String() + "b:\n  <<: *a\n" + own.String() + "  last: own\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := encodeNode(get(root, "b"))
	if err != nil || string(got) != strings.ReplaceAll(want.String(), "  ", "")+"last: own\n" {
		t.Errorf("%v\n%s", err, got)
	}

	var many strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&many, "k%d: a\n", i)
	}
	start := time.Now()
	if _, err := parseTree([]byte(many.String())); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("60,000 keys take %s", took)
	}
}

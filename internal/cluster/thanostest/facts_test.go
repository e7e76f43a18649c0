package thanostest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	query       = "--query=http://a"
	remoteWrite = "/etc/thanos/config/remote-write-config/remote-write.yaml"
	ruleFile    = RuleFolder + "/cm-0/a.yaml"
)

// ruler returns a container like that of the operator, without the part under test.
func ruler(args ...string) Container {
	return Container{
		Args: slices.Concat([]string{
			"rule", "--data-dir=/thanos/data", "--rule-file=" + RuleFolder + "/*/*.yaml",
			`--label=thanos_ruler_replica="$(POD_NAME)"`, "--alert.label-drop=thanos_ruler_replica",
		}, args),
		Env:   map[string]string{"POD_NAME": "thanos-ruler-r-0"},
		Files: map[string]string{},
	}
}

// with adds a file.
func (c Container) with(name, content string) Container {
	c.Files[name] = content
	return c
}

// expect checks whether the program accepts a container. An empty reason means that it
// must accept it.
func expect(t *testing.T, p Program, c Container, reason string) {
	t.Helper()
	err := p.Check(t.Context(), c)
	if reason == "" {
		if err != nil {
			t.Errorf("%q %q: %v", c.Args, c.Files, err)
		}
		return
	}
	if no, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(no.Reason, reason) {
		t.Errorf("%q %q: %v, want %q", c.Args, c.Files, err, reason)
	}
}

// Arguments (space-separated) are accepted or rejected as expected.
func TestArguments(t *testing.T) {
	p := Find(t)
	for args, reason := range map[string]string{
		"--query=a:9090":                              "",
		"--query=dnssrv+_http._tcp.a":                 "",
		"--query=http://a --query=http://b":           "",
		"--query=http://a --query=http://a":           "Address http://a is duplicated for --query flag",
		"--query=":                                    "static address cannot be empty",
		"--query=dns+http://a":                        `"dns+http" is not supported scheme`,
		"--query=://":                                 "missing protocol scheme",
		"--query=http://a --query.config-file=/q":     "cannot be defined at the same time",
		"--alertmanagers.url=http://a":                "no query configuration parameter was given",
		query + " --alertmanagers.url=dns+http://a:1": "",
		query + " --alertmanagers.url=http://a --alertmanagers.url=http://a":                "",
		query + " --alertmanagers.url=http://a --alertmanagers.config-file=/q":              "cannot be defined at the same time",
		query + " --alertmanagers.url=a:9093":                                               "empty host",
		query + " --alertmanagers.url=a":                                                    "empty scheme",
		query + " --alert.query-url=":                                                       "",
		query + " --alert.query-url=%zz":                                                    "parse alert query url",
		query + " --alert.label-drop=thanos_ruler_replica --alert.label-drop=":              "",
		query + " --web.route-prefix=/x/":                                                   "",
		query + " --web.route-prefix=x --web.external-prefix=http://a/%zz":                  "",
		query + " --web.route-prefix=http://a/x":                                            "wildcards must be named",
		query + " --web.route-prefix=/*":                                                    "wildcards must be named",
		query + " --rule-concurrent-evaluation=5":                                           "",
		query + " --enable-feature=":                                                        "",
		query + " --enable-feature=no-such-feature":                                         "",
		query + " --log.format=json --log.level=error":                                      "",
		query + " --log.level=none":                                                         "enum value must be one of error,warn,info,debug",
		query + " --log.level=":                                                             "enum value must be one of",
		query + " --log.format=text":                                                        "enum value must be one of logfmt,json,journald",
		query + " --grpc-server-tls-min-version=1.2":                                        "",
		query + " --grpc-server-tls-min-version=TLS12":                                      "enum value must be one of 1.0,1.1,1.2,1.3",
		query + " --grpc-server-tls-client-ca=/q":                                           "a server key and certificate must also be provided",
		query + " --grpc-server-tls-cert=/q":                                                "both server key and certificate must be provided",
		query + " --grpc-server-tls-ciphers=a --grpc-server-tls-curves=b":                   "", // not read without a certificate
		query + " --no-tsdb.wal-compression":                                                "",
		query + " --tsdb.wal-compression=true":                                              "unexpected true",
		query + " --data-dir=/thanos/other":                                                 "flag 'data-dir' cannot be repeated",
		query + " --eval-interval=1s --eval-interval=1s":                                    "flag 'eval-interval' cannot be repeated",
		query + " --no-such":                                                                "unknown long flag '--no-such'",
		query + " --http.config=/missing":                                                   "open /missing: no such file",
		query + " --remote-write.config-file=/q --remote-write.config={}":                   "both remote-write.config-file and remote-write.config flags set",
		query + " --objstore.config-file=/missing":                                          "open /missing: no such file",
		query + " --rule-file=/missing --rule-file=/also/missing/*.yaml --hash-func=SHA256": "",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			expect(t, p, ruler(strings.Fields(args)...).with("/q", "- static_configs: [a]"), reason)
		})
	}
}

func TestLabels(t *testing.T) {
	p := Find(t)
	for label, reason := range map[string]string{
		`a="b"`: "", `a=""`: "", `a="x=y"`: "", `a="b\"c\n"`: "", "a=`b`": "", `a="ü"`: "",
		"a=\"\xff\"": "", `ü="b"`: "", `a-b="b"`: "", `__name__="b"`: "", // none of them is validated
		`thanos_ruler_replica="x"`: "", // two values of one label
		"a":                        "unrecognized label",
		"a=b":                      "unquote label value",
		"a='bc'":                   "unquote label value",
		"a=\"b\nc\"":               "unquote label value",
		`="b"`:                     "unsupported format",
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			expect(t, p, ruler(query, "--label="+label), reason)
		})
	}
}

// Durations are Go's with d and w; only the retention accepts Prometheus's.
func TestDurations(t *testing.T) {
	p := Find(t)
	retention := map[string]string{
		"1y": "", "1w2d": "", "1h30m": "", "0": "", "1ms": "", "": "empty duration", "1.5h": "unknown unit", "24": "not a valid duration",
		"1d1d": "not a valid duration", "300y": "out of range",
	}
	other := map[string]string{
		"1w2d3h4m5s6ms": "", "1h1d": "", "0": "", "0s": "", "1.5h": "", "106751d": "",
		"": "invalid duration", "15": "missing unit", "1y": `unknown unit "y"`, "106752d": "invalid duration",
	}
	for flag, table := range map[string]map[string]string{
		"tsdb.retention": retention, "eval-interval": other, "for-outage-tolerance": other, "for-grace-period": other,
		"resend-delay": other, "rule-query-offset": other,
	} {
		for value, reason := range table {
			t.Run(flag+"="+value, func(t *testing.T) {
				t.Parallel()
				expect(t, p, ruler(query, "--"+flag+"="+value), reason)
			})
		}
	}
	t.Run("an evaluation interval of zero ends the program at the first rule", func(t *testing.T) {
		t.Parallel()
		expect(t, p, ruler(query, "--eval-interval=0s").with(ruleFile, "groups: [{name: g, rules: [{record: a, expr: up}]}]"), "integer divide by zero")
	})
}

func TestConfigurationFiles(t *testing.T) {
	p := Find(t)
	for flag, table := range map[string]map[string]string{
		"query.config-file": {
			"[]": "", "- static_configs: [a]": "", "- http_config: {bearer_token: $(POD_NAME)}\n  static_configs: [a]": "",
			"- grpc_config: {endpoint_addresses: ['a:1']}": "",
			"":                         "no query configuration parameter was given",
			"- http_config: {foo: a}":  "field foo not found",
			"- static_configs: [$(A)]": `found reference to unset environment variable "A"`,
		},
		"alertmanagers.config-file": {
			"": "", "alertmanagers: []": "", "alertmanagers: [{static_configs: [a], api_version: v2, timeout: 1d}]": "",
			"alertmanagers: [{static_configs: [a], api_version: v3}]": "expected Alertmanager API version",
			"foo: []": "field foo not found",
		},
		"alert.relabel-config-file": {
			"": "", "[]": "", "- {source_labels: [a], target_label: 'b$1', replacement: c}": "",
			"- {action: foo}": "unknown relabel action",
			"{}":              "cannot unmarshal",
		},
		"objstore.config-file": {
			"": "", "type: FILESYSTEM\nconfig: {directory: /thanos/bucket}": "", "type: X": "bucket with type X is not supported", "{}": "is not supported",
			"type: S3\nconfig: {bucket: b, endpoint: e, foo: 1}": "field foo not found",
		},
		"tracing.config-file": {"": "", "type: OTLP\nconfig: {client_type: grpc, endpoint: 'a:1'}": "", "type: X": "tracing with type X is not supported"},
		"http.config": {
			"": "", "{}": "", "tls_server_config: {}": "", "http_server_config: {http2: true, headers: {X-Frame-Options: deny}}": "",
			"http_server_config: {headers: {X-Frame-Options: maybe}}": "invalid value for X-Frame-Options",
			"foo: 1": "field foo not found",
			"tls_server_config: {cert_file: /a, key_file: /b}": "failed to read cert_file (/a)",
		},
	} {
		for content, reason := range table {
			t.Run(flag+" "+content, func(t *testing.T) {
				t.Parallel()
				args := []string{"--" + flag + "=/f.yaml"}
				if flag != "query.config-file" {
					args = append(args, query)
				}
				expect(t, p, ruler(args...).with("/f.yaml", content), reason)
			})
		}
	}
}

// Unknown keys are ignored in remote_write, unlike in all other files.
func TestRemoteWrite(t *testing.T) {
	p := Find(t)
	entries := map[string]string{
		"{url: http://a}": "", "{url: http://a, no_such_key: 1, queue_config: {max_retries: 3}}": "",
		"{url: http://a, name: a}, {url: http://a, name: b}": "", "{url: http://a, name: a}, {url: http://b, name: a}": "",
		"{url: http://a, protobuf_message: io.prometheus.write.v2.Request, metadata_config: {send: true}}": "",
		"{url: http://a, round_robin_dns: true, send_native_histograms: true, send_exemplars: true}":       "",
		"{url: http://a, azuread: {managed_identity: {}}}":                                                 "",
		"{url: http://a, azuread: {sdk: {}, scope: a}}":                                                    "",
		"{url: http://a, sigv4: {region: r, access_key: a, secret_key: b, external_id: c}}":                "",
		"{url: http://a, basic_auth: {username: a, password: $(POD_NAME)}}":                                "",
		"{url: http://a, write_relabel_configs: [{action: labeldrop, regex: a}]}":                          "",

		"{}":                                                                "url for remote_write is empty",
		"{url: http://a}, {url: http://a}":                                  "duplicate remote write configs",
		"{url: http://a, azuread: {}}":                                      "must provide an Azure Managed Identity",
		"{url: http://a, no_proxy: b}":                                      "if no_proxy is configured, proxy_url must also be configured",
		"{url: http://a, headers: {authorization: b}}":                      "authorization header must be changed via",
		"{url: http://a, protobuf_message: v2}":                             "unknown type for remote write protobuf message",
		"{url: http://a, sigv4: {region: r, access_key: a}}":                "must provide a AWS SigV4 Access key and Secret Key",
		"{url: http://a, sigv4: {}, basic_auth: {username: a}}":             "at most one of",
		"{url: http://a, basic_auth: {username: a, password: 'a$$(NOPE)'}}": `found reference to unset environment variable "NOPE"`,
		"{url: http://a, tls_config: {ca_file: /missing}}":                  "open /missing: no such file",
	}
	for entry, reason := range entries {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			expect(t, p, ruler(query, "--remote-write.config-file="+remoteWrite).with(remoteWrite, "remote_write: ["+entry+"]\n"), reason)
		})
	}
	t.Run("an object store has no effect", func(t *testing.T) {
		t.Parallel()
		expect(t, p, ruler(query, "--remote-write.config-file="+remoteWrite, "--objstore.config-file=/o.yaml").
			with(remoteWrite, "remote_write: [{url: http://a}]\n").with("/o.yaml", "type: FILESYSTEM\nconfig: {directory: /thanos/bucket}\n"), "")
	})
}

// An empty list is a configuration and makes the ruler stateless; an empty file does not.
func TestEmptyRemoteWrite(t *testing.T) {
	p := Find(t)
	for content, stateless := range map[string]bool{"": false, "remote_write: []\n": true} {
		t.Run(fmt.Sprintf("%q", content), func(t *testing.T) {
			t.Parallel()
			s, err := p.Start(t.Context(), ruler(query, "--remote-write.config-file="+remoteWrite).with(remoteWrite, content))
			if err != nil {
				t.Fatal(err)
			}
			stop(t, s)
			if got := !strings.Contains(s.Log(), "component=tsdb"); got != stateless {
				t.Errorf("stateless: %v, want %v\n%s", got, stateless, s.Log())
			}
		})
	}
}

func TestRuleFiles(t *testing.T) {
	p := Find(t)
	for groups, reason := range map[string]string{
		"": "", "{name: a}": "", "{name: a, rules: []}": "", "{name: a, limit: -1}": "",
		"{name: a, partial_response_strategy: Warn}, {name: a, partial_response_strategy: abort}, {name: b, partial_response_strategy: ''}":                  "",
		"{name: a, interval: 1y, query_offset: 1w, limit: 5, labels: {ü: b}, rules: [{alert: A, expr: up, for: 1d, keep_firing_for: 1w, labels: {a-b: c}}]}": "",
		"{name: a, rules: [{record: ü b, expr: '{\"a b\"}'}, {record: a, expr: 1}]}":                                                                         "",
		"{name: a, rules: [{alert: A, expr: up, annotations: {a: '{{ urlQueryEscape \"a\" }}'}}]}":                                                           "",

		"{name: a}, {name: a}": `groupname: "a" is repeated in the same file`,
		"{name: ''}":           "Groupname must not be empty",
		"{name: a, foo: 1}":    "field foo not found",
		"{name: a, partial_response_strategy: group_replica}":                "Possible values are ABORT,WARN",
		"{name: a, interval: ''}":                                            "empty duration string",
		"{name: a, query_offset: ''}":                                        "empty duration string",
		"{name: a, rules: [{alert: A, expr: up, for: ''}]}":                  "empty duration string",
		"{name: a, labels: {__name__: b}}":                                   "invalid label name: __name__",
		"{name: a, rules: [{record: 'a{b}', expr: up}]}":                     "braces present in the recording rule name",
		"{name: a, rules: [{record: a, alert: A, expr: up}]}":                "only one of 'record' and 'alert' must be set",
		"{name: a, rules: [{record: a, expr: up, for: 1m}]}":                 "invalid field 'for' in recording rule",
		"{name: a, rules: [{record: a, expr: 'sum('}]}":                      "unclosed left parenthesis",
		"{name: a, rules: [{record: a, expr: 'a[1m+1m]'}]}":                  "duration expression is not enabled",
		"{name: a, rules: [{record: a, expr: 'xrate(a[1m])'}]}":              `unknown function with name "xrate"`,
		"{name: a, rules: [{alert: A, expr: up, labels: {a: '{{ foo }}'}}]}": `function "foo" not defined`,
	} {
		t.Run(groups, func(t *testing.T) {
			t.Parallel()
			expect(t, p, ruler(query).with(ruleFile, "groups: ["+groups+"]\n"), reason)
		})
	}
}

// A list of features in one argument silently enables none of them.
func TestEnableFeature(t *testing.T) {
	p := Find(t)
	for args, reason := range map[string]string{
		"": `function "sort_by_label" is not enabled`,
		"--enable-feature=promql-experimental-functions":                        "",
		"--enable-feature=promql-experimental-functions,other":                  `function "sort_by_label" is not enabled`,
		"--enable-feature=promql-experimental-functions --enable-feature=other": "",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			rule := "groups: [{name: g, rules: [{record: a, expr: 'sort_by_label(up, \"a\")'}]}]"
			expect(t, p, ruler(slices.Concat([]string{query}, strings.Fields(args))...).with(ruleFile, rule), reason)
		})
	}
}

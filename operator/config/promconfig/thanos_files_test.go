package promconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Errors in the alerting files are reported with their location and without values.
func TestCheckThanosFiles(t *testing.T) {
	for name, tc := range map[string]struct{ alertmanagers, relabel, want string }{
		"all there is": {
			"alertmanagers:\n- {api_version: v2, scheme: https, path_prefix: /am, timeout: 5s, static_configs: [\"dnssrv+_http._tcp.am\"],\n" +
				"   http_config: {basic_auth: {username: u, password: $(hunter)}, tls_config: {insecure_skip_verify: true}},\n   file_sd_configs: [{files: [a.yaml], refresh_interval: 1m}]}",
			"- {source_labels: [a], regex: b, action: drop}", ""},
		"empty":       {"", "", ""},
		"empty lists": {"alertmanagers:", "[]", ""},
		"anchors":     {"alertmanagers: [&a {static_configs: [x]}, {<<: *a, scheme: https}, *a]", "", ""},
		"no map":      {"- {static_configs: [x]}", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: is no map with the key alertmanagers; write alertmanagers: before the list`},
		"another key": {"alertmanager: []", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: unknown field alertmanager`},
		"no list":     {"alertmanagers: {static_configs: [x]}", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: is no list`},
		"unknown":     {"alertmanagers:\n- static_configs: [x]\n  schema: http", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 3: unknown field schema, did you mean scheme?`},
		"a version":   {"alertmanagers:\n- {api_version: v3}", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 2: api_version must be v1 or v2`},
		"Prometheus'": {"alertmanagers: [{static_configs: [{targets: [x]}]}]", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: want text, got a map`},
		"no YAML":     {"alertmanagers: [hunter", "", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: is not valid YAML: did not find expected ',' or ']'`},
		"null":        {"", "[null]", `spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: is no map`},
		"an action":   {"", "- {regex: a, target_label: b}\n- {action: dropp}", `spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 2: unknown relabel action …, did you mean drop?`},
		"no target":   {"", "- {action: hashmod, modulus: 2, source_labels: [a]}", `spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: relabel configuration for hashmod action requires 'target_label' value`},
		"steps of a CRD": {"", "- {sourceLabels: [a], targetLabel: b}", `spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: unknown field sourceLabels, did you mean source_labels?
spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: unknown field targetLabel, did you mean target_label?`},
		"a regex": {"", "- {regex: 'hunter('}", `spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: error parsing regexp: missing closing ): …`},
		"both, and more": {"alertmanagers: [x]", "a: b", `spec.alertmanagersConfig: key "am.yaml" of Secret "team/alerting", line 1: is no map
spec.alertRelabelConfigs: key "relabel.yaml" of Secret "team/relabel", line 1: is no list`},
	} {
		t.Run(name, func(t *testing.T) {
			r := &assets.Static{}
			add := func(name, key, text string) *corev1.SecretKeySelector {
				r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Data: map[string][]byte{key: []byte(text)}})
				return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
			}
			tr := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "r"}}
			tr.Spec.AlertmanagersConfig, tr.Spec.AlertRelabelConfigs = add("alerting", "am.yaml", tc.alertmanagers), add("relabel", "relabel.yaml", tc.relabel)
			known := semver.MustParse("0.42.4")
			deps, err := CheckThanosFiles(tr, known, r)
			if got := fmt.Sprint(err); err == nil && tc.want != "" || err != nil && got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if strings.Contains(fmt.Sprint(err), "hunter") || len(deps) != 2 {
				t.Errorf("%d dependencies, %v", len(deps), err)
			}
			if _, err := CheckThanosFiles(tr, semver.MustParse("0.43.0"), r); err != nil {
				t.Errorf("of a version that is not known: %v", err)
			}
			tr.Spec.AlertRelabelConfigFile = "/mine"
			tr.Spec.AlertmanagersConfig.Name = "none"
			if _, err := CheckThanosFiles(tr, known, r); err != nil {
				t.Errorf("what is missing, or not used: %v", err)
			}
		})
	}
}

// Errors in the query file are reported like those in the alerting files.
func TestCheckThanosQuery(t *testing.T) {
	for text, want := range map[string]string{
		"- {static_configs: [a:9090], scheme: http, path_prefix: /q, http_config: {bearer_token: hunter}, file_sd_configs: [{files: [a.yaml]}]}": "",
		"- {grpc_config: {endpoint_addresses: [\"dns+a:10901\"]}}":                                                                               "",
		"- static_config: [hunter]":                      `spec.queryConfig: key "query.yaml" of Secret "team/query", line 1: unknown field static_config, did you mean static_configs?`,
		"- static_configs: [a]\n  path_prefix: [hunter]": `spec.queryConfig: key "query.yaml" of Secret "team/query", line 2: want text, got a list`,
		"LSBzdGF0aWNfY29uZmlnczogW2h1bnRlcl0K":           `spec.queryConfig: key "query.yaml" of Secret "team/query", line 1: is base64: the value is encoded twice; encode it once, or write it as it is into stringData`,
		"static_configs: [hunter]":                       `spec.queryConfig: key "query.yaml" of Secret "team/query", line 1: is no list`,
	} {
		r := &assets.Static{}
		r.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "query"}, Data: map[string][]byte{"query.yaml": []byte(text)}})
		tr := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "r"}}
		tr.Spec.QueryConfig = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "query"}, Key: "query.yaml"}
		deps, err := CheckThanosFiles(tr, semver.MustParse("0.42.4"), r)
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want || len(deps) != 1 {
			t.Errorf("%s: %d dependencies\ngot  %s\nwant %s", text, len(deps), got, want)
		}
	}
}

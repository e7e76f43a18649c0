package configfile

import (
	"strings"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestInlineCredentials: credentials that are inlined in an object are redacted in its
// configuration, and other values are not.
func TestInlineCredentials(t *testing.T) {
	const key = "c4nary0123456789abcdef0123456789"
	m := NewMasker(&v1.Prometheus{})
	all := func(string, string) bool { return true }
	for text, section := range map[string]string{
		"oauth2: {token_url: 'https://a/token', endpoint_params: {assertion: " + key + ", client_assertion: " + key + "}}":              "remote_write/0",
		"url: https://a.example/api/v1/push/" + key + "/x":                                                                              "remote_write/0",
		"url: https://a.example/read/" + key + "?a=" + key:                                                                              "remote_read",
		"params: {pass: [" + key + "], module: [http_2xx]}":                                                                             "scrape_configs",
		"params: {code: [" + key + "], sid: [" + key + "]}":                                                                             "scrape_configs",
		"params: {session: [" + key + "], target: [a.example]}":                                                                         "scrape_configs",
		"relabel_configs: [{target_label: __param_sid, replacement: " + key + "}, {source_labels: [__param_code], regex: " + key + "}]": "scrape_configs",
		"static_configs: [{targets: ['https://u:" + key + "@a.example/']}]":                                                             "scrape_configs",
	} {
		out, err := m.Redact(Section{Name: section, Text: text}, all)
		if err != nil || strings.Contains(out, "c4nary") || !strings.Contains(out, "<hidden>") {
			t.Errorf("%s: %q %v", text, out, err)
		}
	}
	for text, section := range map[string]string{
		"url: https://a.long-name-of-a-team.example.org/api/v1/write":                                      "remote_write/0",
		"params: {module: [http_2xx], target: [a.example], 'match[]': ['{job=\"a-long-name-of-a-job\"}']}": "scrape_configs",
		"relabel_configs: [{target_label: __param_module, replacement: http_2xx}]":                         "scrape_configs",
	} {
		if out, err := m.Redact(Section{Name: section, Text: text}, all); err != nil || out != text {
			t.Errorf("%s: %q %v", text, out, err)
		}
	}
}

package alertmanager

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// A configuration that the operator passes on unread is written, with a warning about what the
// version will refuse.
func TestConfigurationPassedOnUnread(t *testing.T) {
	const receiver = "route: {receiver: a}\nreceivers:\n- name: a\n"
	const wrong = "route: {receiver: b}\nreceivers: [{name: a}]\n"
	for title, tc := range map[string]struct {
		spec, config string
		want         string
	}{
		"valid":                 {`{}`, receiver, ""},
		"no Secret":             {`{}`, "", ""},
		"an undefined receiver": {`{}`, wrong, `key "alertmanager.yaml": line 1: route.receiver: undefined receiver "b" used in route; there is a; Alertmanager refuses it`},
		"a misspelled field":    {`{}`, "global:\n  resolve_timout: 5m\n" + receiver, `Secret "demo/alertmanager-main": key "alertmanager.yaml": line 2: unknown field resolve_timout, did you mean resolve_timeout?; Alertmanager refuses it`},
		"a receiver that is too new": {`{version: v0.27.0}`, receiver + "  msteamsv2_configs: [{webhook_url: 'https://a.example'}]\n",
			"Alertmanager refuses it (the operator passes it on unchanged, because spec.alertmanagerConfigSelector is not set)"},
		"a field that is too new": {`{version: v0.27.0}`, receiver + "  webhook_configs: [{url: 'https://a.example', timeout: 3s}]\n",
			"receivers[0].webhook_configs[0].timeout in the configuration needs Alertmanager >= 0.28.0"},
	} {
		t.Run(title, func(t *testing.T) {
			w := newFakeCluster(t)
			if tc.config != "" {
				w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte(tc.config)}
			}
			_, plan, err := w.plan(alertmanager(t, tc.spec))
			if err != nil || len(plan.Content) == 0 {
				t.Fatalf("%v, content %q", err, steps(plan.Content))
			}
			text := strings.Join(faults.Texts(plan.Warnings), "\n")
			if (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) || tc.want != "" && !strings.HasPrefix(text, "spec.configSecret: ") {
				t.Errorf("want %q, got %q", tc.want, text)
			}
		})
	}
}

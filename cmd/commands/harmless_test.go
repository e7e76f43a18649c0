package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"a\tb\r\nc":                     "a\tb\r\nc",
		"accepted\rrejected\r":          `accepted\x0drejected\x0d`,
		"\x1b[31mred\x1b[0m\a":          `\x1b[31mred\x1b[0m\x07`,
		"\x00\x7f":                      `\x00\x7f`,
		"a\u202ab\u202e\u2066c\u2069":   `a\u202ab\u202e\u2066c\u2069`,
		"\u2029\u202f\u2065\u206a":      "\u2029\u202f\u2065\u206a",
		"\u009b31m é \u0085 \U0001f3c6": "\\x9b31m é \u0085 \U0001f3c6",
	} {
		var b bytes.Buffer
		n, err := harmless{w: &b}.Write([]byte(in))
		if b.String() != want || n != len(in) || err != nil {
			t.Errorf("%q: %q, %d, %v", in, b.String(), n, err)
		}
	}
}

// No control character from the content or the file names of manifests reaches the terminal.
func TestNoControlCharacterReachesTheTerminal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: a, namespace: b, labels: {"x\e[31m": y}}
spec: {selector: {}, endpoints: [{port: "(\e[31mRED\a*", interval: "\e[2K1x", "f\e[31mx": 1, relabelings: [{action: "\e[31m", regex: "(\e\a"}]}]}
`,
		"b.yaml":         "kind: \"\\e[31mX\"\napiVersion: v1\n",
		"c\x1b[31m.yaml": "a: b\n",
		"d\x1b[31m.yaml": "{{ a }}\n",
		"p.yaml":         "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: b}\nspec: {serviceMonitorSelector: {}, externalLabels: {a: \"\\e[31m\"}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"lint", dir}, {"lint", filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c\x1b[31m.yaml")}, {"render", dir},
		{"explain", "--offline", "-f", dir, "servicemonitor/b/a"}, {"explain", "--offline", "-f", dir, "prometheus/b/p"},
		{"targets", "--offline", "-f", dir, "prometheus/b/p"}, {"route", "-f", dir, "a=\x1b[31m"}, {"lint", "no\x1b[31msuch"}, {"\x1b[31m"},
	} {
		var out bytes.Buffer
		Operator(context.Background(), args, &out, &out)
		if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 || out.Len() == 0 {
			t.Errorf("%q: %q", strings.Join(args, " "), out.String()[max(0, i-60):min(out.Len(), max(0, i)+60)])
		}
	}
}

// No name changes the direction of the text after it, or ends its line and begins another. YAML keeps the text of
// values.
func TestNamesStayInTheirLine(t *testing.T) {
	const name = `"x\u202E\u2066\nbegun"`
	file := filepath.Join(t.TempDir(), "a.yaml")
	text := strings.ReplaceAll(`apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: am, namespace: b}
spec: {alertmanagerConfigSelector: {}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: c, namespace: b}
spec:
  route: {receiver: NAME, groupBy: [NAME], muteTimeIntervals: [NAME]}
  receivers: [{name: NAME, webhookConfigs: [{url: "http://a"}]}]
  inhibitRules: [{sourceMatch: [{name: a, value: NAME, matchType: "="}], targetMatch: [{name: a, value: b, matchType: "="}], equal: [NAME]}]
  muteTimeIntervals: [{name: NAME, timeIntervals: [{weekdays: [monday]}]}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: r, namespace: b}
spec: {groups: [{name: NAME, rules: [{alert: NAME, expr: "up == 0"}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p, namespace: b}
spec: {serviceMonitorSelector: {}, ruleSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: s, namespace: b}
spec: {selector: {}, endpoints: [{port: other}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: b}
spec: {ports: [{name: NAME, port: 80}]}
`, "NAME", name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"route", "--offline", "-f", file, "a=b", "namespace=b"}, {"route", "--offline", "-f", file, "namespace=c"}, {"route", "--offline", "-f", file, "--rule", "b/r", "--alert", "A"},
		{"lint", file}, {"explain", "--offline", "-f", file, "alertmanagerconfig/b/c"}, {"explain", "--offline", "-f", file, "servicemonitor/b/s"},
		{"targets", "--offline", "-f", file, "prometheus/b/p"},
	} {
		var out strings.Builder
		Operator(context.Background(), args, &out, &out)
		if !strings.Contains(out.String(), "begun") && !slices.Contains(args, "namespace=c") {
			t.Errorf("%q has no name:\n%s", args, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "begun") || strings.ContainsAny(line, "\u202e\u2066") {
				t.Errorf("%q: %q", args, line)
			}
		}
	}
	var out strings.Builder
	Operator(context.Background(), []string{"render", file, "--only", "config", "--for", "Alertmanager/b/am"}, &out, io.Discard)
	var config struct{ Receivers []struct{ Name string } }
	if err := yaml.Unmarshal([]byte(out.String()), &config); err != nil || len(config.Receivers) < 2 || config.Receivers[1].Name != "b/c/x\u202e\u2066\nbegun" {
		t.Errorf("%v, %q", err, config.Receivers)
	}
}

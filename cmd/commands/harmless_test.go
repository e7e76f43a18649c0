package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"a\tb\r\nc":                     "a\tb\r\nc",
		"accepted\rrejected\r":          `accepted\x0drejected\x0d`,
		"\x1b[31mred\x1b[0m\a":          `\x1b[31mred\x1b[0m\x07`,
		"\x00\x7f":                      `\x00\x7f`,
		"\u009b31m é \u0085 \U0001f3c6": "\\x9b31m é \u0085 \U0001f3c6",
	} {
		var b bytes.Buffer
		n, err := harmless{&b}.Write([]byte(in))
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

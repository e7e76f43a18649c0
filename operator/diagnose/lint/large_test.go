package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
)

// The items of a List share one parsed document: the cost is not their number times the length of the List.
func TestLongList(t *testing.T) {
	const items = 300
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range items {
		fmt.Fprintf(&text, "- apiVersion: monitoring.coreos.com/v1\n  kind: ServiceMonitor\n  metadata: {name: m%d, namespace: d}\n  spec:\n    selector: {}\n    wrong: 1\n    endpoints: []\n", i)
	}
	path := filepath.Join(t.TempDir(), "list.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	budgettest.AtMost(t, "List", int64(2000*text.Len()), func() {
		found := Run([]string{path}, nil, Options{}).Findings
		lines := map[int]bool{}
		for _, f := range found {
			if f.Field == "spec.wrong" {
				lines[f.Line] = true
			}
		}
		if len(lines) != items || !lines[9] || !lines[16] {
			t.Errorf("%d lines of %d findings", len(lines), len(found))
		}
	})
}

// The configurations of blackbox exporters are parsed once, not for each Probe.
func TestManyProbes(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p, namespace: d}\nspec: {probeSelector: {}}\n---\n")
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blackbox, namespace: d}\ndata:\n  blackbox.yml: |\n    modules:\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "      m%d: {prober: http}\n", i)
	}
	const probes = 100
	for i := range probes {
		fmt.Fprintf(&text, "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: p%d, namespace: d}\nspec: {module: x, prober: {url: 'blackbox:9115'}, targets: {staticConfig: {static: [a]}}}\n", i)
	}
	path := filepath.Join(t.TempDir(), "probes.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	budgettest.AtMost(t, "Probes", int64(2000*text.Len()), func() {
		found := 0
		for _, f := range Run([]string{path}, kinds(), Options{}).Findings {
			if f.Field == "spec.module" {
				found++
			}
		}
		if found != probes {
			t.Errorf("%d findings about modules, want %d", found, probes)
		}
	})
}

// A List of millions of empty items costs a few times its length.
func TestHollowList(t *testing.T) {
	for name, text := range map[string]string{
		"JSON":  `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat("{},", 2_000_000) + "{}]}",
		"YAML":  "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- {}\n", 1_000_000),
		"typed": `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitorList","items":[` + strings.Repeat("{},", 2_000_000) + "{}]}",
	} {
		path := filepath.Join(t.TempDir(), "list.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		budgettest.AtMost(t, name, int64(60*len(text)), func() {
			if len(Run([]string{path}, nil, Options{}).Findings) == 0 {
				t.Errorf("%s: no finding", name)
			}
		})
	}
}

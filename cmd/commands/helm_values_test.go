package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
)

var inTicks = regexp.MustCompile("`([^`]+)`")

// The table of docs/from-the-reference.md names values that both charts have, and all settings of the operator in
// kube-prometheus-stack.
func TestChartCounterparts(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-the-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| kube-prometheus-stack | Firekeeper |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	ours, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	ours.Values["global"] = map[string]any{"imageRegistry": ""}
	has := func(values map[string]any, path string) bool {
		keys := strings.Split(path, ".")
		at := values
		for _, key := range keys[:len(keys)-1] {
			at, _ = at[key].(map[string]any)
		}
		_, ok := at[keys[len(keys)-1]]
		return ok
	}
	named := map[string]bool{}
	var left []string
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			t.Fatalf("not a row of two cells: %s", row)
		}
		for _, m := range inTicks.FindAllStringSubmatch(cells[1], -1) {
			left = append(left, m[1])
			top, _, _ := strings.Cut(m[1], ".")
			named[top] = true
		}
		for _, m := range inTicks.FindAllStringSubmatch(cells[2], -1) {
			if !has(ours.Values, m[1]) && m[1] != "operator" && m[1] != "cert-manager" && m[1] != "secret" && m[1] != "enabled" {
				t.Errorf("the chart has no value %s", m[1])
			}
		}
	}
	if len(left) < 50 {
		t.Errorf("the table has %d settings", len(left))
	}

	from := filepath.Join(os.Getenv("FIREKEEPER_SHARED"), "real", "kube-prometheus-stack", "chart")
	if os.Getenv("FIREKEEPER_SHARED") == "" {
		from = "../../../shared/real/kube-prometheus-stack/chart"
	}
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the chart kube-prometheus-stack is not at %s (set FIREKEEPER_SHARED)", from)
	}
	theirs, err := loader.LoadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	settings := theirs.Values["prometheusOperator"].(map[string]any)
	settings["namespaces"] = map[string]any{"releaseNamespace": true, "additional": nil}
	for _, path := range left {
		if !has(settings, path) {
			t.Errorf("kube-prometheus-stack has no prometheusOperator.%s", path)
		}
	}
	for name := range settings {
		if !named[name] {
			t.Errorf("the table lacks prometheusOperator.%s", name)
		}
	}
}

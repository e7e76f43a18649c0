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

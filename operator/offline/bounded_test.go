package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firekeeper-dev/firekeeper/operator/budget/budgettest"
)

// Kinds, groups and values of any length are compared at the cost of a few copies.
func TestSuggestionsAreBounded(t *testing.T) {
	long := strings.Repeat("ServiceMonitor", 1<<20/14)
	for name, do := range map[string]func() string{
		"kind": func() string {
			return misnamed(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: long}).Error()
		},
		"group": func() string {
			_ = misnamed(schema.GroupVersionKind{Group: long, Version: "v1", Kind: "ServiceMonitor"})
			return "x"
		},
		"value": func() string {
			return oneOf(field.NotSupported(field.NewPath("a"), long, []string{"a", "b"}), `supported values: "a", "b"`)
		},
	} {
		budgettest.AtMost(t, name, 16<<20, func() {
			if do() == "" {
				t.Errorf("%s: no message", name)
			}
		})
	}
}

// Reading is linear in the number of documents: four times as many take about four times as long.
func TestManyDocuments(t *testing.T) {
	for _, one := range []string{"# one\n---\n", "# one\r\r\n---\r\n"} { // the second are not found in the text
		few, many := tookToLoad(t, strings.Repeat(one, 20_000)), tookToLoad(t, strings.Repeat(one, 80_000))
		if many > 9*few { // 16 times as long if each is looked for from the beginning
			t.Errorf("%q: 20,000 documents take %s, 80,000 take %s", one, few, many)
		}
	}
}

func tookToLoad(t *testing.T, text string) time.Duration {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	least := time.Hour
	for range 2 {
		began := time.Now()
		if _, err := Load([]string{path}, nil); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(began))
	}
	return least
}

package offline

import (
	"strings"
	"testing"

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

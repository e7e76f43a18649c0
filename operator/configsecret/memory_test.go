package configsecret

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestMemoryWarning(t *testing.T) {
	for name, tc := range map[string]struct {
		size, rules int
		limit       string
		want        string
	}{
		"a usual configuration":            {2 << 20, 0, "50Mi", ""},
		"no limit":                         {500 << 20, 0, "0", ""},
		"a limit that suffices":            {100 << 20, 0, "220Mi", ""},
		"a large one, the default's limit": {100 << 20, 0, "50Mi", "--config-reloader-memory-limit=50Mi is too low, set it to 221Mi"},
		"rules":                            {2 << 20, 20 << 20, "50Mi", "set it to 85Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := memoryWarning(tc.size, tc.rules, resource.MustParse(tc.limit)); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("warning %q, want %q", got, tc.want)
			}
		})
	}
}

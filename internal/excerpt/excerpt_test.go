package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

func TestOf(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		max  int
	}{"short": {"short", 10}, "exact": {"0123456789", 10}, "long": {"0123456789x", 10}, "many bytes": {strings.Repeat("é", 50), 21}} {
		got := excerpt.Of(tc.text, tc.max)
		if len(got) > tc.max || !utf8.ValidString(got) || !strings.HasPrefix(tc.text, strings.TrimSuffix(got, " …")) ||
			(got == tc.text) != (len(tc.text) <= tc.max) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

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

func TestList(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for most, want := range map[int]string{2: "a, b and 2 more", 3: "a, b, c and 1 more", 4: "a, b, c, d", 9: "a, b, c, d"} {
		if got := excerpt.List(names, most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}

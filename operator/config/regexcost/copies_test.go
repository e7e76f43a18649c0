package regexcost

import "testing"

func TestCopies(t *testing.T) {
	for _, tc := range []struct {
		regex, template string
		want            int
	}{
		{"(.*)", "", 0}, {"(.*)", "a", 0}, {"(.*)", "$$1", 0}, {"(.*)", "$1", 1}, {"(.*)", "$1$1", 2}, {"(.*)", "$0-${1}", 2},
		{"(a+)-(b+)", "$1-$2", 1}, {"(a+)-(b+)", "$1$2$1", 2}, {"((a+)-(b+))", "$1$2$3", 2}, {"(a)|(b)", "$1$2$2", 2},
		{"(?P<x>.*)", "$x$1", 2}, {"(?P<x>.*)", "${x}a$xa", 1}, {"(.*)", "$1$2", 1}, {"(.*)", "$1é$1", 1}, {"(.*)", "$1–$1", 2}, {"(.*)", "${1$1", 2},
	} {
		parsed, err := Parse(tc.regex)
		if err != nil {
			t.Fatal(err)
		}
		if got := Copies(parsed, tc.template); got < tc.want || got > tc.want+1 {
			t.Errorf("%s, %s: %d, want %d", tc.regex, tc.template, got, tc.want)
		}
	}
}

package lint

import "testing"

// KeepAtMost replaces the maximum number of kept results for a test.
func KeepAtMost(t testing.TB, n int) {
	before := mostKept
	mostKept = n
	t.Cleanup(func() { mostKept = before })
}

package thanostest

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
)

// Program is the path of the real thanos.
type Program string

// Find returns the program, and skips the test if there is none.
func Find(t testing.TB) Program {
	t.Helper()
	return Program(programtest.Find(t, "thanos"))
}

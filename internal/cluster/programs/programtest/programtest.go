// Package programtest provides real programs for tests.
//
// A missing program is built, which takes minutes, once. With -short it is not built,
// unless FIREKEEPER_PROMTOOLS is set, because short tests must not wait for a compiler.
package programtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// env is the variable that selects the releases of a program to build: with "1" the oldest
// and the newest, with "all" also those in between.
const env = "FIREKEEPER_PROMTOOLS"

// Find returns the path of a program, and skips the test if there is none.
func Find(t testing.TB, name string) string {
	t.Helper()
	path, ok := Optional(t, name)
	if !ok {
		t.Skipf("no %s here; %s=1 builds it", name, env)
	}
	return path
}

// Optional returns the path of a program if it exists or can be built. The test fails if
// FIREKEEPER_PROMTOOLS requests the program and the build fails.
func Optional(t testing.TB, name string) (path string, ok bool) {
	t.Helper()
	l, _ := lookups.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		return programs.Default(os.Stderr).One(context.Background(), name, !testing.Short() || os.Getenv(env) != "")
	}))
	path, err := l.(func() (string, error))()
	if err != nil && os.Getenv(env) != "" {
		t.Fatalf("%s: %v", name, err)
	}
	return path, err == nil && path != ""
}

// lookups has a memoized lookup function per program name.
var lookups sync.Map

// Build reports whether to build a missing release of a program: number i of n, oldest
// first.
func Build(i, n int) bool {
	which := os.Getenv(env)
	return which == "all" || which != "" && (i == 0 || i == n-1)
}

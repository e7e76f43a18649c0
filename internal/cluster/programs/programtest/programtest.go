// Package programtest gives tests the programs with which they check something.
//
// A missing program is built, which takes minutes, once. Under -short it is not, unless
// FIREKEEPER_PROMTOOLS is set: what is quick must not wait for a compiler.
package programtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// env is the variable that says which releases of a program are built: with "1" the oldest
// and the newest, with "all" also those between them.
const env = "FIREKEEPER_PROMTOOLS"

// Find returns the path of a program, and skips the test without it.
func Find(t testing.TB, name string) string {
	t.Helper()
	path, ok := Optional(t, name)
	if !ok {
		t.Skipf("no %s here; %s=1 builds it", name, env)
	}
	return path
}

// Optional returns the path of a program, if it is there or can be built. The test fails
// when the program was asked for with FIREKEEPER_PROMTOOLS and cannot be built.
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

// lookups are functions that look a program up once, by its name.
var lookups sync.Map

// Build reports whether a release of a program is built when it is missing: number i of n,
// from the oldest on.
func Build(i, n int) bool {
	which := os.Getenv(env)
	return which == "all" || which != "" && (i == 0 || i == n-1)
}

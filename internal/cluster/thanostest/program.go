package thanostest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// Program is the path of the real thanos.
type Program string

var find = sync.OnceValues(func() (string, error) {
	found, err := programs.Default(os.Stderr).Find(context.Background(), "thanos")
	return found["thanos"], err
})

// Find returns the program, which is built when it is missing (minutes, once); it skips the test when it cannot be
// built.
func Find(t testing.TB) Program {
	t.Helper()
	path, err := find()
	if err != nil {
		t.Skipf("no thanos: %v", err)
	}
	return Program(path)
}

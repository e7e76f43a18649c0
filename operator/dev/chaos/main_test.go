package chaos

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

func TestMain(m *testing.M) {
	code := clustertest.Main(m)
	if complete {
		if err := write(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	trial.Clean()
	os.Exit(code)
}

var (
	sharedOnce        sync.Once
	sharedEnvironment *trial.Environment
)

// shared returns the cluster of all tests that leave it alone.
func shared(t *testing.T) *trial.Environment {
	t.Helper()
	c := clustertest.Shared(t, cluster.Options{ControllerManager: true})
	sharedOnce.Do(func() { sharedEnvironment = trial.Prepare(t, c) })
	if sharedEnvironment == nil {
		t.Fatal("an earlier test could not prepare the cluster")
	}
	return sharedEnvironment
}

// own returns a cluster for one test.
func own(t *testing.T) *trial.Environment {
	t.Helper()
	return trial.Prepare(t, clustertest.Start(t, cluster.Options{ControllerManager: true}))
}

// Package clustertest provides Kubernetes clusters for tests.
//
// One control plane per test binary is enough for most tests if each uses its own namespace:
//
//	func TestMain(m *testing.M) { os.Exit(clustertest.Main(m)) }
//
//	func TestReconcile(t *testing.T) {
//		c := clustertest.Shared(t, cluster.Options{ControllerManager: true})
//		// c.Host, c.Token, c.CAFile, c.Kubeconfig
//	}
//
// Start creates a cluster for a single test. With -short, both skip the test.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
)

// Start starts a cluster that is stopped when the test ends. If the test failed, its logs are kept and their folder
// is printed.
func Start(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	needsCluster(t, o)
	c, err := begin(o)
	if err != nil {
		t.Fatalf("start cluster: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.KeepLogs()
		}
		if err := end(c); err != nil {
			t.Errorf("stop cluster: %v", err)
		}
		if _, err := os.Stat(c.LogDir()); err == nil { // it does not exist if the test has stopped the cluster
			t.Logf("logs of the cluster are kept in %s", c.LogDir())
		}
	})
	return c
}

// needsCluster skips the test if clusters are disabled or not possible.
func needsCluster(t testing.TB, o cluster.Options) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	case o.Node && os.Getenv("FIREKEEPER_E2E") == "":
		t.Skip("starts a whole Kubernetes node; set FIREKEEPER_E2E=1 to run it")
	case o.Node && os.Geteuid() != 0:
		t.Skip("starts a whole Kubernetes node, which needs root")
	}
}

// sharedKey identifies a cluster that tests can share.
type sharedKey struct{ controllerManager, node bool }

// sharedCluster is started by the first test that uses it. A failure is not retried, because it would recur.
type sharedCluster struct {
	once    sync.Once
	cluster *cluster.Cluster
	err     error
	failed  bool // a test that used the cluster failed
}

var (
	sharedMu sync.Mutex
	shared   = map[sharedKey]*sharedCluster{}
)

// Shared returns a cluster that all tests of this binary share. There is one per kind of cluster, with the other
// options of the first caller. Main stops it. Without Main it ends with the binary, and the next start removes its
// folder.
func Shared(t testing.TB, o cluster.Options) *cluster.Cluster {
	t.Helper()
	needsCluster(t, o)
	key := sharedKey{o.ControllerManager, o.Node}
	sharedMu.Lock()
	s := shared[key]
	if s == nil {
		s = &sharedCluster{}
		shared[key] = s
	}
	sharedMu.Unlock()
	s.once.Do(func() { s.cluster, s.err = begin(o) })
	if s.err != nil {
		t.Fatalf("start shared cluster: %v", s.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			sharedMu.Lock()
			defer sharedMu.Unlock()
			s.failed = true
		}
	})
	return s.cluster
}

// Main runs the tests, stops the shared clusters, and returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	for _, s := range shared {
		if s.cluster == nil {
			continue
		}
		if s.failed {
			s.cluster.KeepLogs()
			fmt.Fprintf(os.Stderr, "logs of the cluster are kept in %s\n", s.cluster.LogDir())
		}
		if err := end(s.cluster); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

var (
	liveMu sync.Mutex
	live   []*cluster.Cluster // stopped on Ctrl-C
)

// interruptible returns a context that ends when the tests are interrupted. All clusters are then stopped.
var interruptible = sync.OnceValue(func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := (<-signals).(syscall.Signal)
		fmt.Fprintf(os.Stderr, "%s: stopping clusters\n", s)
		cancel(errors.New("interrupted"))
		liveMu.Lock() // not unlocked, so that nothing starts after it
		for _, c := range live {
			_ = c.Stop()
		}
		os.Exit(128 + int(s))
	}()
	return ctx
})

func begin(o cluster.Options) (*cluster.Cluster, error) {
	if o.Log == nil {
		o.Log = os.Stderr
	}
	c, err := cluster.Start(interruptible(), o)
	if err != nil {
		return nil, err
	}
	liveMu.Lock()
	defer liveMu.Unlock()
	live = append(live, c)
	return c, nil
}

func end(c *cluster.Cluster) error {
	liveMu.Lock()
	live = slices.DeleteFunc(live, func(other *cluster.Cluster) bool { return other == c })
	liveMu.Unlock()
	return c.Stop()
}

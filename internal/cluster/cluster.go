package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// Cluster is a running Kubernetes.
type Cluster struct {
	Dir        string // absolute; removed by Stop
	Kubeconfig string // path; user is in system:masters
	Host       string // https://127.0.0.1:port
	Token      string // bearer token of the same user
	CAFile     string // PEM path; signs the API server's and the kubelet's certificates
	Etcd       string // http://127.0.0.1:port of the store; anybody may read and write it
	NodeIP     string // address at which pods reach this machine; 127.0.0.1 without a node

	log      io.Writer
	state    *state
	programs map[string]string
	finder   *programs.Finder // for programs that are needed later
	running  []*process
	stop     func() error // safe to call more than once
	detach   func() bool  // disconnects from the context of Start
}

// Start starts a cluster and returns when it is ready for use.
//
// An attached cluster (no Options.Detach) stops when ctx ends. If Start returns an error, it has removed
// everything it created except the logs, whose folder is in the error.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	began := time.Now()
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	if o.Node {
		if err := ensurePackages(ctx, o.Log, nodePackages); err != nil {
			return nil, err
		}
	}
	found, err := o.Programs.Find(ctx, o.programNames()...)
	if err != nil {
		return nil, fmt.Errorf("find programs: %w", err)
	}
	if o.Dir == "" {
		if o.Dir, err = tempDir(); err != nil {
			return nil, err
		}
	}
	st, err := claim(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: o.Dir, log: o.Log, state: st, programs: found, finder: o.Programs}
	c.stop = sync.OnceValue(func() error {
		err := c.state.teardown(c.log)
		if err == nil {
			c.reap()
		}
		return err
	})
	if err := c.boot(ctx, o); err != nil {
		c.KeepLogs()
		return nil, errors.Join(fmt.Errorf("start cluster (logs: %s): %w", c.LogDir(), err), c.stop())
	}
	if !o.Detach {
		c.detach = context.AfterFunc(ctx, func() { _ = c.stop() })
	}
	fmt.Fprintf(c.log, "cluster: ready after %s\n", since(began))
	return c, nil
}

// reap waits until the child processes have been reaped.
func (c *Cluster) reap() {
	for _, p := range c.running {
		<-p.exited
	}
}

// boot starts the components in order.
func (c *Cluster) boot(ctx context.Context, o Options) error {
	if o.Node {
		if err := ports.Taken(nodePorts...); err != nil {
			return err
		}
	}
	if err := c.controlPlane(ctx, o); err != nil {
		return err
	}
	if !o.Node {
		return nil
	}
	return c.node(ctx)
}

// Open returns the running cluster of a folder, for example one that clusterctl started.
//
// Errors: [NotRunningError].
func Open(dir string, log io.Writer) (*Cluster, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cluster folder: %w", err)
	}
	st, err := findState(abs)
	if err != nil {
		return nil, err
	}
	if st == nil || !st.Ready || !st.alive() {
		return nil, &NotRunningError{Dir: dir}
	}
	if log == nil {
		log = io.Discard
	}
	out := &lines{to: log}
	c := &Cluster{Dir: abs, log: out, state: st, programs: st.Programs, finder: programs.Default(out)}
	c.stop = sync.OnceValue(func() error { return c.state.teardown(c.log) })
	c.fromState()
	return c, nil
}

// NotRunningError means that a folder has no running cluster.
type NotRunningError struct{ Dir string }

func (e *NotRunningError) Error() string { return fmt.Sprintf("no cluster runs in %s", e.Dir) }

// fromState sets the exported fields from the state.
func (c *Cluster) fromState() {
	c.Kubeconfig = filepath.Join(c.Dir, "kubeconfig")
	c.CAFile = filepath.Join(c.Dir, "pki", "ca.crt")
	c.Host, c.Token, c.NodeIP, c.Etcd = c.state.Host, c.state.Token, c.state.NodeIP, c.state.Etcd
}

// HasNode reports whether the cluster has a node that runs pods.
func (c *Cluster) HasNode() bool { return c.state.Node }

// Processes returns the process IDs of the started programs by name.
func (c *Cluster) Processes() map[string]int {
	out := map[string]int{}
	for _, p := range c.state.Processes {
		out[p.Name] = p.PID
	}
	return out
}

// LogDir returns the folder of the programs' logs, one file each.
func (c *Cluster) LogDir() string { return filepath.Join(c.Dir, "logs") }

// KeepLogs makes Stop keep LogDir.
func (c *Cluster) KeepLogs() {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.KeepLogs = true
}

// Stop ends all processes and removes everything that the cluster created on the machine. It may be called more
// than once.
func (c *Cluster) Stop() error {
	if c.detach != nil {
		c.detach()
	}
	return c.stop()
}

// Down stops the cluster of a folder, running or crashed, and removes the folder. A folder without a cluster is
// not an error.
func Down(dir string, log io.Writer) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("cluster folder: %w", err)
	}
	st, err := findState(abs)
	if err != nil || st == nil {
		return err
	}
	if log == nil {
		log = io.Discard
	}
	return st.teardown(&lines{to: log})
}

// lines writes each line with one call, so that concurrent writers do not interleave.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func since(t time.Time) time.Duration { return time.Since(t).Round(10 * time.Millisecond) }

package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// patience is the timeout for steps that should take seconds. The machine may stall for a minute.
const patience = 4 * time.Minute

// account is the identity of the operators of tests, which have the permissions of deploy/.
const account = "system:serviceaccount:firekeeper:prometheus-operator"

// operator is an operator that runs as a process on this machine and manages only the objects of one test. It can be
// stopped, killed and started again.
type operator struct {
	id   string // value of --controller-id
	node node
	args []string
	log  logtest.Log

	program string // default: that of the working tree

	url   string
	cmd   *exec.Cmd
	ended chan error // nil while none is running
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// operator starts an operator. It is stopped at the end of the test and must exit successfully.
func (n node) operator(t *testing.T, id string, args ...string) *operator {
	t.Helper()
	o := &operator{id: id, node: n, args: args}
	o.endsWith(t)
	o.start(t)
	return o
}

// endsWith stops the operator at the end of the test, if it runs.
func (o *operator) endsWith(t *testing.T) {
	t.Cleanup(func() {
		if o.ended != nil {
			o.stop(t)
		}
		if t.Failed() {
			t.Logf("end of the log of operator %s:\n%s", o.id, tail(o.log.String(), 60))
		}
	})
}

// start starts the operator and returns once its caches are synced.
func (o *operator) start(t *testing.T) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	o.url = "http://" + address
	args := append([]string{"--as=" + account, "--web.listen-address=" + address, "--controller-id=" + o.id}, o.args...)
	program := cmp.Or(o.program, filepath.Join(root(), "bin", "image", "linux-"+runtime.GOARCH, "operator"))
	o.cmd = exec.CommandContext(context.Background(), program, args...)
	o.cmd.Env = append(os.Environ(), "KUBECONFIG="+o.node.Kubeconfig)
	o.cmd.Stdout, o.cmd.Stderr = &o.log, &o.log
	child.DiesWithUs(o.cmd)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, cmd := make(chan error, 1), o.cmd
	o.ended = ended
	go func() { ended <- cmd.Wait() }()
	until(t, "operator "+o.id, patience, func(ctx context.Context) (bool, error) {
		select {
		case err := <-ended:
			o.ended = nil
			t.Fatalf("the operator ended: %v", err)
		default:
		}
		page, err := o.metrics(ctx)
		return strings.Contains(page, `prometheus_operator_ready{controller="prometheus"} 1`), err
	})
}

// metrics returns the metrics of the operator in text format.
func (o *operator) metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+"/metrics", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	return string(page), err
}

// stop terminates the operator as a kubelet does and expects a successful exit.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case err := <-o.ended:
		if err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	case <-time.After(patience):
		_ = o.cmd.Process.Kill()
		t.Errorf("the operator did not stop within %s", patience)
	}
	o.ended = nil
}

// kill kills the operator immediately, possibly in the middle of a write.
func (o *operator) kill(t *testing.T) {
	t.Helper()
	if err := o.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-o.ended; err == nil {
		t.Fatal("the operator ended by itself")
	}
	o.ended = nil
	fmt.Fprintf(&o.log, "--- killed ---\n")
}

package trial

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// Process is a program that can be killed and started again with the same arguments. It ends with the test's process.
type Process struct {
	Name string   // for messages
	Args []string // the first one is the program
	Env  []string // in addition to that of the test
	Log  logtest.Log

	mu    sync.Mutex
	cmd   *exec.Cmd
	done  chan struct{} // closed when cmd has ended
	err   error         // with which it ended
	since int           // length of the log when it was last started
}

// Command returns a command that ends with the test's process.
func Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	child.DiesWithUs(cmd)
	return cmd
}

// Start starts it.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	cmd, done := Command(p.Args[0], p.Args[1:]...), make(chan struct{})
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = &p.Log, &p.Log
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = len(p.Log.String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err = err
		close(done)
	}()
	p.cmd, p.done = cmd, done
}

// running returns the running program, nil if there is none.
func (p *Process) running() (cmd *exec.Cmd, done chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil, nil
	}
	select {
	case <-p.done:
		return nil, nil
	default:
		return p.cmd, p.done
	}
}

// Runs reports whether the program runs.
func (p *Process) Runs() bool {
	cmd, _ := p.running()
	return cmd != nil
}

// Since returns the log of the running program, "" if there is none.
func (p *Process) Since() string {
	if !p.Runs() {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Log.String()[p.since:]
}

// Kill kills it like a crash, and waits until it is gone. It is a no-op if it does not run.
func (p *Process) Kill() {
	if cmd, done := p.running(); cmd != nil {
		_ = cmd.Process.Kill() // unless it has just ended
		<-done
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = nil
}

// Again starts it unless it runs, like a kubelet.
func (p *Process) Again(t testing.TB) {
	t.Helper()
	if !p.Runs() {
		p.Start(t)
	}
}

// Signal sends a signal, if it runs.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if cmd, _ := p.running(); cmd != nil {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
}

// Died returns an error if the process has not been started or has ended on its own.
func (p *Process) Died() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return fmt.Errorf("%s does not run", p.Name)
	}
	select {
	case <-p.done:
		return fmt.Errorf("%s ended: %w", p.Name, errors.Join(p.err, errors.New(p.Log.Brief(20))))
	default:
		return nil
	}
}

package cage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
)

// Program is a program to run.
type Program struct {
	Name  string // of the cgroup; a PID and a number are appended
	Path  string
	Args  []string
	Env   []string // added to the environment of this process
	Limit int64    // in bytes; 0 is no limit
	Log   string   // file to which the output is appended
}

// Process is a running program.
type Process struct {
	Name    string
	cmd     *exec.Cmd
	group   *group // nil if there is no limit
	noLimit error  // reason for the missing limit
	ended   chan struct{}
	err     error // valid after ended
	last    Usage // valid after ended
	asked   atomic.Bool
}

// Usage is the memory usage of a process.
type Usage struct {
	RSS, Peak int64 // in bytes: current size of the process, peak of its cgroup
	Kills     int   // number of OOM kills
}

var serial atomic.Int64

// Start starts a program.
func Start(o Program) (*Process, error) {
	log, err := os.OpenFile(o.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{Name: o.Name, ended: make(chan struct{})}
	p.cmd = exec.Command(o.Path, o.Args...)
	if o.Limit > 0 {
		name := fmt.Sprintf("firekeeper-%s-%d-%d", o.Name, os.Getpid(), serial.Add(1))
		if p.group, p.noLimit = newGroup(name, o.Limit); p.group != nil {
			// The shell enters the cgroup before it executes the program.
			enter := `echo $$ > "$0" && exec "$@"`
			p.cmd = exec.Command("/bin/sh", append([]string{"-c", enter, p.group.procs(), o.Path}, o.Args...)...)
		}
	}
	p.cmd.Env = append(os.Environ(), o.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	child.DiesWithUs(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.removeGroup())
	}
	go p.wait()
	return p, nil
}

func (p *Process) wait() {
	err := p.cmd.Wait()
	p.last = p.usage()
	p.err = errors.Join(err, p.removeGroup())
	close(p.ended)
}

func (p *Process) removeGroup() error {
	if p.group == nil {
		return nil
	}
	return p.group.remove()
}

// Limited returns why the program runs without a limit. It is nil if the program has a limit or requested none.
func (p *Process) Limited() error { return p.noLimit }

// Ended returns a channel that is closed when the process has exited.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err returns how the process exited by itself. It is nil while the process runs, and after Stop if it exited
// successfully.
func (p *Process) Err() error {
	select {
	case <-p.ended:
	default:
		return nil
	}
	switch {
	case p.last.Kills > 0:
		return fmt.Errorf("%s: killed for want of memory (%d MiB at most)", p.Name, p.last.Peak>>20)
	case p.asked.Load():
		return p.err
	case p.err == nil:
		return fmt.Errorf("%s: ended by itself", p.Name)
	default:
		return fmt.Errorf("%s: %w (%d MiB at most)", p.Name, p.err, p.last.Peak>>20)
	}
}

// Succeeded reports whether the process has exited by itself with success.
func (p *Process) Succeeded() bool {
	select {
	case <-p.ended:
		return p.err == nil && p.last.Kills == 0
	default:
		return false
	}
}

// Usage returns the usage of the process, or its last usage if it has exited.
func (p *Process) Usage() Usage {
	select {
	case <-p.ended:
		return p.last
	default:
		return p.usage()
	}
}

func (p *Process) usage() Usage {
	now, peak, _ := child.Resident(p.cmd.Process.Pid) // zero if the process has exited
	u := Usage{RSS: int64(now), Peak: int64(peak)}
	if p.group != nil {
		u.Peak = max(u.Peak, p.group.number("memory.max_usage_in_bytes", "memory.peak"))
		u.Kills, _ = p.group.kills() // the file exists since Linux 4.13
	}
	return u
}

// grace is the time that a program has to exit.
const grace = 40 * time.Second

// Stop terminates the process and returns an error if it does not exit successfully.
func (p *Process) Stop() error {
	if p == nil {
		return nil
	}
	p.asked.Store(true)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return p.Err()
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("%s: does not stop within %s", p.Name, grace), p.Kill())
	}
}

// Kill kills the process immediately.
func (p *Process) Kill() error {
	p.asked.Store(true)
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

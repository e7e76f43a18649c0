package cage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
)

// Program is what to run.
type Program struct {
	Name  string // of the cgroup, with the id of this process and a number
	Path  string
	Args  []string
	Env   []string // beside ours
	Limit int64    // bytes; 0 is none
	Log   string   // file that the output is appended to
}

// Process is a running program.
type Process struct {
	Name    string
	cmd     *exec.Cmd
	group   *group // nil: there is no limit
	noLimit error  // why
	ended   chan struct{}
	err     error // after ended
	last    Usage // after ended
	asked   atomic.Bool
}

// Usage is what a process has used.
type Usage struct {
	RSS, Peak int64 // bytes: of the process now, of its cgroup at most
	Kills     int   // by the kernel, for want of memory
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
			// The shell enters the cgroup and then becomes the program.
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

// Limited is why the program runs without a limit; nil if it has one, or wants none.
func (p *Process) Limited() error { return p.noLimit }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err is how the process ended by itself: nil while it runs, and when it was stopped and
// ended well.
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

// Succeeded reports whether the process has ended, by itself and well.
func (p *Process) Succeeded() bool {
	select {
	case <-p.ended:
		return p.err == nil && p.last.Kills == 0
	default:
		return false
	}
}

// Usage is what the process uses, or has used when it has ended.
func (p *Process) Usage() Usage {
	select {
	case <-p.ended:
		return p.last
	default:
		return p.usage()
	}
}

func (p *Process) usage() Usage {
	var u Usage
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err == nil {
		u.RSS, u.Peak = kib(string(text), "VmRSS:"), kib(string(text), "VmHWM:")
	}
	if p.group != nil {
		u.Peak = max(u.Peak, p.group.number("memory.max_usage_in_bytes", "memory.peak"))
		u.Kills, _ = p.group.kills() // the file is in every kernel since 4.13
	}
	return u
}

func kib(status, field string) int64 {
	_, rest, ok := strings.Cut(status, field)
	if !ok {
		return 0
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// grace is how long a program may take to stop.
const grace = 40 * time.Second

// Stop ends the process, and reports how it ended if that is not well.
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

// Kill ends the process at once.
func (p *Process) Kill() error {
	p.asked.Store(true)
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

package reload

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// commSize is the length to which the kernel truncates a process name.
const commSize = 15

// SignalOptions configure the reload of a server in the same process namespace.
type SignalOptions struct {
	// Process is the name of the program, as in /proc/<pid>/comm.
	Process string
	// Info verifies the outcome; nil counts a sent signal as success.
	Info *RuntimeInfo
	// Deadline limits the wait for the outcome.
	Deadline time.Duration

	proc string                                  // "/proc"
	kill func(pid int, sig syscall.Signal) error // syscall.Kill
}

// Signal reloads a server with SIGHUP. The process must belong to the same user and be visible, which needs
// shareProcessNamespace in a pod.
type Signal struct{ opts SignalOptions }

// NewSignal returns the trigger for one process.
func NewSignal(o SignalOptions) *Signal {
	if o.proc == "" {
		o.proc = "/proc"
	}
	if o.kill == nil {
		o.kill = syscall.Kill
	}
	return &Signal{opts: o}
}

// Reload makes one attempt, see [Trigger]. It stops waiting when r.Superseded is closed.
func (s *Signal) Reload(ctx context.Context, r Request) error {
	if s.opts.Info == nil {
		return s.signal()
	}
	before, err := s.opts.Info.get(ctx)
	if err != nil {
		return infoFailure(err)
	}
	// A load in the same second as the previous one could not be distinguished from it.
	if !pause(ctx, r.Superseded, min(time.Until(before.At.Truncate(time.Second).Add(time.Second)), time.Second)) {
		return superseded(ctx)
	}
	if err := s.signal(); err != nil {
		return err
	}
	return s.verify(ctx, r, before)
}

// verify polls until the outcome is known, with intervals that grow to one second.
func (s *Signal) verify(ctx context.Context, r Request, before LoadState) error {
	end := time.Now().Add(s.opts.Deadline)
	for every := 25 * time.Millisecond; ; every = min(2*every, time.Second) {
		now, err := s.opts.Info.get(ctx)
		switch {
		case err != nil:
			return infoFailure(err)
		case now.OK && !now.At.Equal(before.At): // also earlier, if the clock was set back
			return nil
		case before.OK && !now.OK:
			return fail(Rejected, "process %s was signalled, and the server reports %s", s.opts.Process, now)
		case time.Now().After(end):
			return fail(Timeout, "process %s was signalled %s ago, and the server still reports %s", s.opts.Process, s.opts.Deadline, now)
		}
		if !pause(ctx, r.Superseded, every) {
			return superseded(ctx)
		}
	}
}

func infoFailure(err error) error {
	if ReasonOf(err) != "" {
		return err
	}
	if e, ok := errors.AsType[*statusError](err); ok && e.code == http.StatusServiceUnavailable {
		return &Error{Reason: NotReady, Err: err}
	}
	return &Error{Reason: Unreachable, Err: err}
}

func superseded(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &Error{Reason: Superseded, Err: err}
	}
	return fail(Superseded, "newer content arrived")
}

// pause sleeps, and reports whether it was not interrupted.
func pause(ctx context.Context, superseded <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-superseded:
		return false
	}
}

func (s *Signal) signal() error {
	pid, err := s.find()
	if err != nil {
		return err
	}
	if err := s.opts.kill(pid, syscall.SIGHUP); err != nil {
		return fail(Unreachable, "signal process %s (pid %d): %w", s.opts.Process, pid, err)
	}
	return nil
}

// find returns the lowest process ID with the wanted name. Zombies are skipped, because a signal has no effect
// on them.
func (s *Signal) find() (int, error) {
	entries, err := os.ReadDir(s.opts.proc)
	if err != nil {
		return 0, fail(Unreachable, "list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	want := s.opts.Process[:min(len(s.opts.Process), commSize)]
	for _, pid := range pids {
		name, state, err := stat(filepath.Join(s.opts.proc, strconv.Itoa(pid), "stat"))
		if err == nil && name == want && state != "Z" && state != "X" {
			return pid, nil
		}
	}
	return 0, fail(Unreachable, "no process named %q among %d (does the pod share its process namespace?)", s.opts.Process, len(pids))
}

// stat reads name and state from a line like "12 (prometheus) S 1 ...". The name may contain parentheses and
// spaces.
func stat(path string) (name, state string, err error) {
	line, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	from, to := strings.IndexByte(string(line), '('), strings.LastIndexByte(string(line), ')')
	if from < 0 || to < from {
		return "", "", fmt.Errorf("%s: unexpected format", path)
	}
	state, _, _ = strings.Cut(strings.TrimSpace(string(line[to+1:])), " ")
	return string(line[from+1 : to]), state, nil
}

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// process is a child process.
type process struct {
	name   string
	args   []string
	log    string // file
	exited chan struct{}
	err    error // exit error; set when exited is closed
}

// starterThread runs functions on one OS thread that exists until the process ends. The kernel sends a child its
// death signal when the thread that created it ends, and Go may end other threads.
var starterThread = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func onStarterThread(f func()) {
	done := make(chan struct{})
	starterThread() <- func() { defer close(done); f() }
	<-done
}

// start runs a program in the background, with its output in logs/<name>.log, and records it in the state.
func (c *Cluster) start(name string, args ...string) (*process, error) {
	path := c.programs[name]
	if path == "" {
		var err error
		if path, err = findCommand(name); err != nil {
			return nil, err
		}
	}
	p := &process{name: name, args: args, log: filepath.Join(c.LogDir(), name+".log"), exited: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = c.Dir, childEnv(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if c.state.Detached {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	onStarterThread(func() { err = cmd.Start() })
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	r, err := record(name, cmd.Process.Pid)
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err != nil {
		return nil, err
	}
	c.running = append(c.running, p)
	c.state.Processes = append(c.state.Processes, r)
	return p, c.state.save()
}

// childEnv returns the environment without proxies, which would break connections between the programs, and with
// the folders of iptables and ip on Debian in PATH.
func childEnv(env []string) []string {
	out := []string{"GOGC=400"} // saves a quarter of the processor time, for some hundred megabytes; env may override it
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasSuffix(strings.ToLower(name), "_proxy"):
		case name == "PATH":
			out = append(out, "PATH="+value+":/usr/sbin:/sbin:/usr/bin:/bin")
		case name == "KUBECONFIG", name == "NOTIFY_SOCKET":
		default:
			out = append(out, kv)
		}
	}
	return out
}

// findCommand is like exec.LookPath and also searches folders that are not in PATH of a non-login shell.
func findCommand(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("program %s is not on PATH", name)
}

// DiedError means that a program ended unexpectedly.
type DiedError struct {
	Name string
	Err  error  // exit error
	Log  string // file
	Tail string // last lines of the log
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("%s ended (%v); end of %s:\n%s", e.Name, e.Err, e.Log, e.Tail)
}

func (e *DiedError) Unwrap() error { return e.Err }

// died returns the error for a process that has ended.
func (p *process) died() error {
	err := p.err
	if err == nil {
		err = fmt.Errorf("exit status 0")
	}
	return &DiedError{Name: p.name, Err: err, Log: p.log, Tail: logTail(p.log, 15)}
}

// logTail returns the last lines of a file.
func logTail(file string, count int) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-count):], []byte("\n")))
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
)

// process is a running operator.
type process struct {
	cmd    *exec.Cmd
	url    string
	log    *os.File
	exited chan struct{} // closed when the process has exited
}

// launch starts the operator and writes its log to the log folder of the cluster.
func (o *options) launch(b *controlPlane) (*process, error) {
	address, err := ports.Address()
	if err != nil {
		return nil, err
	}
	return o.command(b, address, append([]string{"--config-reloader-memory-limit=0"}, o.args...)...) // the largest sizes exceed the default
}

// command starts the operator with arguments, and with the flags that name the cluster and the address that it serves.
func (o *options) command(b *controlPlane, address string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(b.Dir, "operator.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	args = append(args, "--kubeconfig="+b.Kubeconfig, "--web.listen-address="+address)
	var env []string
	if o.memory != "" {
		env = append(env, "GOMEMLIMIT="+o.memory)
	}
	return launch(log, o.operator, address, env, args...)
}

// launch starts a program with additional environment variables. It closes the log if the program does not start.
func launch(log *os.File, name, address string, env []string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), url: "http://" + address, log: log, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = log, log, append(os.Environ(), env...)
	child.DiesWithUs(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // its log shows how it exited
	}()
	return p, nil
}

func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.exited
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return errors.Join(err, p.log.Close())
}

// usage is the resource usage of the operator since its start.
type usage struct {
	cpu      time.Duration
	calls    int // to the API server
	passes   int // reconciliations of workloads
	rss, top int // current and peak size in bytes
}

func (u usage) since(before usage) usage {
	u.cpu -= before.cpu
	u.calls -= before.calls
	u.passes -= before.passes
	return u
}

// usage reads the resource usage from the kernel and the operator's metrics.
func (p *process) usage(ctx context.Context) (usage, error) {
	u, err := p.kernelUsage()
	if err != nil {
		return u, err
	}
	err = p.metrics(ctx, map[string]*int{
		"prometheus_operator_kubernetes_client_http_requests_total": &u.calls,
		"prometheus_operator_reconcile_operations_total":            &u.passes,
	})
	return u, err
}

// kernelUsage reads the CPU time and the memory from the kernel.
func (p *process) kernelUsage() (usage, error) {
	var u usage
	var err error
	if u.cpu, err = p.cpu(); err != nil {
		return u, err
	}
	u.rss, u.top, err = child.Resident(p.cmd.Process.Pid)
	return u, err
}

// metrics adds the values of metrics, over all labels.
func (p *process) metrics(ctx context.Context, wanted map[string]*int) error {
	body, err := p.get(ctx, "/metrics")
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		line := lines.Text()
		name := line[:max(0, strings.IndexAny(line, "{ "))]
		into := wanted[name]
		if into == nil {
			continue
		}
		n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return fmt.Errorf("metric %s: %w", name, err)
		}
		*into += int(n)
	}
	return lines.Err()
}

// live returns the bytes of the heap that are in use after a collection.
func (p *process) live(ctx context.Context) (int, error) {
	profile, err := p.get(ctx, "/debug/pprof/heap?gc=1")
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, profile)
	if err := errors.Join(err, profile.Close()); err != nil {
		return 0, err
	}
	var bytes int
	err = p.metrics(ctx, map[string]*int{"go_gc_heap_live_bytes": &bytes})
	return bytes, err
}

// get sends a request to the operator's HTTP server.
func (p *process) get(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answered %s", path, res.Status), res.Body.Close())
	}
	return res.Body, nil
}

// save writes a response of the operator's HTTP server to a file.
func (p *process) save(ctx context.Context, path, file string) error {
	body, err := p.get(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// clockTick is the unit of times in /proc: 1/USER_HZ, which is 100 Hz on all current Linux platforms.
const clockTick = 10 * time.Millisecond

// cpu returns the user and system time.
func (p *process) cpu() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may contain any character.
	_, rest, ok := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has another form", p.cmd.Process.Pid)
	}
	var ticks int
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", p.cmd.Process.Pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

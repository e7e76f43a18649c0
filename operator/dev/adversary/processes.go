package adversary

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// keeper runs programs and detects when one exits by itself.
type keeper struct {
	found func(Finding)
	blame func() []hostile.Manifest // returns the objects that may have caused an exit

	mu   sync.Mutex
	all  map[string]*kept
	peak map[string]int64
}

// kept is a program that is kept running.
type kept struct {
	program cage.Program
	ready   func(context.Context) error
	process *cage.Process
	wanted  bool // false while it is killed deliberately
}

func newKeeper(found func(Finding)) *keeper {
	none := func() []hostile.Manifest { return nil }
	return &keeper{found: found, blame: none, all: map[string]*kept{}, peak: map[string]int64{}}
}

// run starts a program and waits until it is ready.
func (k *keeper) run(ctx context.Context, program cage.Program, ready func(context.Context) error) error {
	k.mu.Lock()
	k.all[program.Name] = &kept{program: program, ready: ready}
	k.mu.Unlock()
	return k.start(ctx, program.Name)
}

// readiness is the timeout for a program to become ready.
const readiness = 3 * time.Minute

func (k *keeper) start(ctx context.Context, name string) error {
	k.mu.Lock()
	p := k.all[name]
	process, err := cage.Start(p.program)
	p.process, p.wanted = process, true
	k.mu.Unlock()
	if err != nil {
		return err
	}
	if err := process.Limited(); err != nil {
		return &NoCgroupError{err}
	}
	return eventually(ctx, readiness, func() error {
		if err := process.Err(); err != nil {
			return err
		}
		return p.ready(ctx)
	})
}

// NoCgroupError reports that memory cgroups are not writable on this machine.
type NoCgroupError struct{ Err error }

func (e *NoCgroupError) Error() string { return "no memory cgroup can be made: " + e.Err.Error() }

func (e *NoCgroupError) Unwrap() error { return e.Err }

// restart kills a program and starts it again.
func (k *keeper) restart(ctx context.Context, name string) error {
	k.mu.Lock()
	p := k.all[name]
	p.wanted = false
	process := p.process
	k.mu.Unlock()
	k.note(name, process)
	if err := process.Kill(); err != nil {
		return err
	}
	return k.start(ctx, name)
}

func (k *keeper) note(name string, p *cage.Process) cage.Usage {
	u := p.Usage()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.peak[name] = max(k.peak[name], u.Peak)
	return u
}

func (k *keeper) peakOf(name string) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.peak[name]
}

// addArgs adds arguments to a program, effective from its next start.
func (k *keeper) addArgs(name string, args ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := &k.all[name].program
	p.Args = append(slices.Clone(p.Args), args...)
}

// names lists the programs.
func (k *keeper) names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.all))
}

func (k *keeper) usage(name string) cage.Usage {
	k.mu.Lock()
	process := k.all[name].process
	k.mu.Unlock()
	return k.note(name, process)
}

// revive reports every program that has exited by itself, and starts it again.
func (k *keeper) revive(ctx context.Context) error {
	for _, name := range k.names() {
		k.mu.Lock()
		p := k.all[name]
		process, wanted := p.process, p.wanted
		k.mu.Unlock()
		if err := process.Err(); err != nil && wanted {
			k.note(name, process)
			k.found(Finding{Kind: Ended, Process: name, Text: err.Error() + "\n" + tail(p.program.Log), Objects: k.blame()})
			if err := k.start(ctx, name); err != nil {
				return fmt.Errorf("start %s again: %w", name, err)
			}
		}
	}
	return nil
}

// stop terminates all programs as a kubelet does.
func (k *keeper) stop() error {
	var errs []error
	for _, name := range k.names() {
		k.mu.Lock()
		p := k.all[name]
		process := p.process
		p.wanted = false
		k.mu.Unlock()
		if process == nil {
			continue
		}
		k.note(name, process)
		if err := process.Stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop: %w", err))
		}
	}
	return errors.Join(errs...)
}

// tail returns the end of a log.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// broken matches lines that must not occur in logs.
var broken = regexp.MustCompile(`(?m)^.*(panic|fatal error|DATA RACE|runtime error).*$`)

// brokenLines returns the matching lines of a log after an offset, and the next offset.
func brokenLines(path string, from int64) ([]string, int64) {
	f, err := os.Open(path)
	if err != nil {
		return nil, from
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, from
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, from
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	var out []string
	for _, line := range broken.FindAll(whole, 5) {
		out = append(out, string(line))
	}
	return out, from + int64(len(whole))
}

// client is the HTTP client for the programs. It does not verify their self-signed certificates.
var client = &http.Client{
	Timeout:   time.Minute,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 16, DisableCompression: true}, //nolint:gosec // on this machine
}

// answers returns a check that passes if the URL responds with 200.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := get(ctx, url, "")
		return err
	}
}

// get requests a URL with a token. Status codes other than 200 are errors.
func get(ctx context.Context, url, token string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", url, resp.Status, body)
	}
	return body, err
}

// operatorURL and webhookURL return the URLs of the programs.
func (w *environment) operatorURL() string {
	return fmt.Sprintf("http://127.0.0.1:%d", w.ports.Ports[0])
}
func (w *environment) webhookURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d", w.ports.Ports[1])
}

func (w *environment) logOf(name string) string { return filepath.Join(w.Out, name+".log") }

// operatorProgram returns the operator with the arguments and the limit of deploy/.
func (w *environment) operatorProgram(more ...string) (cage.Program, error) {
	c, err := shipped(w.deploy("operator.yaml"))
	if err != nil {
		return cage.Program{}, err
	}
	args := append(slices.Clone(c.args), "--kubeconfig="+w.cluster.Kubeconfig, "--as=system:serviceaccount:firekeeper:prometheus-operator",
		fmt.Sprintf("--web.listen-address=127.0.0.1:%d", w.ports.Ports[0]))
	return cage.Program{Name: "operator", Path: filepath.Join(w.Bin, "operator"), Args: append(args, more...), Limit: c.limit, Log: w.logOf("operator")}, nil
}

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
)

// runDir has a node's sockets, whose paths must be short, and a copy of its state. There is one per machine,
// because a node uses fixed ports, a fixed bridge name and iptables chains.
const runDir = "/run/firekeeper"

// state has everything that Down needs. It is saved before each change of the machine.
type state struct {
	mu sync.Mutex

	Dir      string            `json:"dir"`
	Created  time.Time         `json:"created"`
	Node     bool              `json:"node"`
	Detached bool              `json:"detached"`
	Ready    bool              `json:"ready"` // Start has succeeded
	KeepLogs bool              `json:"keep_logs,omitempty"`
	Host     string            `json:"host,omitempty"`
	Token    string            `json:"token,omitempty"`
	NodeIP   string            `json:"node_ip,omitempty"`
	Etcd     string            `json:"etcd,omitempty"`
	Programs map[string]string `json:"programs,omitempty"` // name: path

	Processes  []processRecord   `json:"processes,omitempty"`
	Interfaces []string          `json:"interfaces,omitempty"` // network interfaces to remove
	Sysctls    map[string]string `json:"sysctls,omitempty"`    // path below /proc/sys: value to restore
	Shared     []string          `json:"shared,omitempty"`     // mounts to make private again
	Fresh      []string          `json:"fresh,omitempty"`      // host folders that were not there before
	Snapshots  string            `json:"snapshots,omitempty"`  // containerd's snapshotter

	ports *ports.Lease // attached only
}

// processRecord identifies a process reliably: a process ID may have been reused.
type processRecord struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot, field 22 of /proc/PID/stat
}

const stateFile = "state.json"

// save writes the state, and for a node its copy below /run.
func (s *state) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	files := []string{filepath.Join(s.Dir, stateFile)}
	if s.Node {
		files = append(files, filepath.Join(runDir, stateFile))
	}
	for _, file := range files {
		if err := replaceFile(file, content, 0o600); err != nil {
			return fmt.Errorf("save state: %w", err)
		}
	}
	return nil
}

func replaceFile(file string, content []byte, mode fs.FileMode) error {
	next := file + ".next"
	if err := os.WriteFile(next, content, mode); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// loadState reads the state of a folder.
func loadState(dir string) (*state, error) {
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	s := &state{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

// findState reads the state of dir, or its copy if the folder was deleted. It returns nil if there is no cluster.
func findState(dir string) (*state, error) {
	s, err := loadState(dir)
	if err == nil {
		s.Dir = cmp.Or(s.Dir, dir)
		return s, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s, err = loadState(runDir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, nil
	case err != nil:
		return nil, err
	case s.Dir != dir:
		return nil, nil
	}
	return s, nil
}

// alive reports whether any of the processes is still running.
func (s *state) alive() bool {
	for _, p := range s.Processes {
		if p.alive() {
			return true
		}
	}
	return false
}

// RunningError means that another cluster is running.
type RunningError struct {
	Dir  string // of the cluster
	Node bool   // it uses the machine's node
}

func (e *RunningError) Error() string {
	if e.Node {
		return fmt.Sprintf("this machine already runs a node, in %s; stop that one first", e.Dir)
	}
	return fmt.Sprintf("a cluster already runs in %s; stop that one first", e.Dir)
}

// claim creates the folder, after cleaning up a crashed cluster in it.
func claim(ctx context.Context, o Options) (*state, error) {
	if err := clearOld(o.Dir, o); err != nil {
		return nil, err
	}
	if o.Node {
		if err := clearOld(runDir, o); err != nil {
			return nil, err
		}
		if err := os.Mkdir(runDir, 0o711); err != nil {
			return nil, fmt.Errorf("reserve this machine's node: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, "logs"), 0o755); err != nil {
		return nil, fmt.Errorf("make cluster folder: %w", err)
	}
	s := &state{
		Dir: o.Dir, Created: time.Now().UTC(), Node: o.Node, Detached: o.Detach, KeepLogs: o.KeepLogs,
	}
	return s, errors.Join(s.save(), context.Cause(ctx))
}

// clearOld removes a crashed cluster whose state is in a folder, and returns an error if anything else is in it.
func clearOld(folder string, o Options) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an old cluster: %w", err)
	}
	s, err := loadState(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && folder == runDir && len(entries) == 0:
		return os.Remove(runDir) // created just before a crash
	case errors.Is(err, fs.ErrNotExist) && onlyLogs(entries):
		return os.RemoveAll(filepath.Join(folder, "logs"))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("folder %s is not empty and holds no cluster", folder)
	case err != nil:
		return err
	case s.alive():
		return &RunningError{Dir: s.Dir, Node: s.Node}
	}
	fmt.Fprintf(o.Log, "cluster: clearing up after the cluster of %s, which did not stop\n", s.Created.Format(time.DateTime))
	s.KeepLogs = false
	if err := s.teardown(o.Log); err != nil {
		return fmt.Errorf("clear up after an old cluster: %w", err)
	}
	return nil
}

// onlyLogs reports whether a folder is empty or has only the logs that KeepLogs kept.
func onlyLogs(entries []fs.DirEntry) bool {
	return len(entries) == 0 || len(entries) == 1 && entries[0].Name() == "logs"
}

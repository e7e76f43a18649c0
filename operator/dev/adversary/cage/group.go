// Package cage runs programs in memory cgroups with the limits of their containers, and reports what they used and how
// they exited.
//
//	p, err := cage.Start(cage.Program{Name: "operator", Path: "bin/operator", Limit: 500 << 20, Log: "operator.log"})
//	p.Usage()          // current and peak memory, number of OOM kills
//	<-p.Ended()
//
// Both cgroup versions are supported. If neither is writable, the program runs without a limit and [Process.Limited]
// returns the reason.
package cage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mount is the mount point of cgroups.
const mount = "/sys/fs/cgroup"

// group is a memory cgroup.
type group struct {
	dir    string
	second bool // cgroup version 2
}

// file returns the path of a file of the group, whose name differs between cgroup versions 1 and 2.
func (g group) file(first, second string) string {
	if g.second {
		return filepath.Join(g.dir, second)
	}
	return filepath.Join(g.dir, first)
}

// newGroup creates a cgroup with a limit.
func newGroup(name string, limit int64) (*group, error) {
	g := &group{dir: filepath.Join(mount, "memory", name)}
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		g = &group{dir: filepath.Join(mount, name), second: true}
		// The controller must be enabled for children of the root; it may be enabled already.
		_ = os.WriteFile(filepath.Join(mount, "cgroup.subtree_control"), []byte("+memory"), 0o644)
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(g.file("memory.limit_in_bytes", "memory.max"), strconv.AppendInt(nil, limit, 10), 0o644); err != nil {
		return nil, errors.Join(err, os.Remove(g.dir))
	}
	// Limit swap, too. The file is missing if there is no swap.
	swap := limit
	if g.second {
		swap = 0
	}
	err := os.WriteFile(g.file("memory.memsw.limit_in_bytes", "memory.swap.max"), strconv.AppendInt(nil, swap, 10), 0o644)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		return nil, errors.Join(err, os.Remove(g.dir))
	}
	return g, nil
}

func (g *group) procs() string { return filepath.Join(g.dir, "cgroup.procs") }

// kills returns the number of processes that the OOM killer has killed.
func (g *group) kills() (int, error) {
	text, err := os.ReadFile(g.file("memory.oom_control", "memory.events"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("%s: no oom_kill in it", g.dir)
}

func (g *group) number(first, second string) int64 {
	text, err := os.ReadFile(g.file(first, second))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// remove removes the cgroup, which must not contain processes.
func (g *group) remove() error { return os.Remove(g.dir) }

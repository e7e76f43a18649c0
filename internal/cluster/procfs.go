package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// procStat has the required fields of /proc/PID/stat.
type procStat struct {
	parent int
	zombie bool
	start  uint64
}

// parseStat parses the content of /proc/PID/stat. The second field is the program's name in parentheses, which
// may itself contain spaces and parentheses.
func parseStat(text string) (procStat, error) {
	end := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[end+1:])
	if end < 0 || len(fields) < 20 {
		return procStat{}, fmt.Errorf("unexpected process status %q", text)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return procStat{}, fmt.Errorf("parent in process status: %w", err)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return procStat{}, fmt.Errorf("start time in process status: %w", err)
	}
	return procStat{parent: parent, zombie: fields[0] == "Z" || fields[0] == "X", start: start}, nil
}

func readStat(pid int) (procStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(text))
}

func processExists(pid int) bool {
	s, err := readStat(pid)
	return err == nil && !s.zombie
}

func (p processRecord) alive() bool {
	s, err := readStat(p.PID)
	return err == nil && !s.zombie && s.start == p.Start
}

// record returns the record of a process that was just started.
func record(name string, pid int) (processRecord, error) {
	s, err := readStat(pid)
	if err != nil {
		return processRecord{}, fmt.Errorf("identify %s: %w", name, err)
	}
	return processRecord{Name: name, PID: pid, Start: s.start}, nil
}

// ourPrograms are the only programs that may be found by their command line.
var ourPrograms = map[string]bool{
	"etcd": true, "kube-apiserver": true, "kube-controller-manager": true, "kube-scheduler": true,
	"kubelet": true, "kube-proxy": true, "coredns": true, "containerd": true, "containerd-shim-runc-v2": true,
}

// processesNaming returns the processes of our programs with one of the given paths, or a path below it, on
// their command line: those that are missing in the state file after a crash, and containerd's shims, which
// leave their parent.
func processesNaming(paths ...string) ([]processRecord, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var out []processRecord
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue // ended in the meantime
		}
		args := strings.Split(string(bytes.TrimRight(cmdline, "\x00")), "\x00")
		if name := filepath.Base(args[0]); ourPrograms[name] && namesPath(args[1:], paths) {
			if r, err := record(name, pid); err == nil {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// namesPath reports whether an argument ("/a/b", "--flag=/a/b") is one of the paths or below it.
func namesPath(args, paths []string) bool {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		for _, path := range paths {
			if within(arg, path) {
				return true
			}
		}
	}
	return false
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// kill kills processes with their process groups, and waits until they have ended.
func kill(records ...processRecord) error {
	for _, p := range records {
		if p.alive() {
			_ = syscall.Kill(-p.PID, syscall.SIGKILL) // it leads a group if we started it
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	deadline := time.Now().Add(15 * time.Second)
	var errs []error
	for _, p := range records {
		for p.alive() {
			if time.Now().After(deadline) {
				errs = append(errs, fmt.Errorf("%s (process %d) does not end", p.Name, p.PID))
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return errors.Join(errs...)
}

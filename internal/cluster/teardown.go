package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// teardown removes everything that is in the state. It does not need any program of the cluster to respond, so it
// also works after a crash. A failed step does not prevent later ones, and keeps the state for the next attempt.
func (s *state) teardown(log io.Writer) error {
	began := time.Now()
	errs := []error{s.endProcesses()}
	if s.Node {
		errs = append(errs, s.clearMachine())
	}
	if s.ports != nil {
		s.ports.Release()
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop cluster in %s: %w", s.Dir, err)
	}
	if err := s.removeFolders(); err != nil {
		return fmt.Errorf("stop cluster in %s: %w", s.Dir, err)
	}
	fmt.Fprintf(log, "cluster: stopped in %s\n", since(began))
	return nil
}

// endProcesses kills the agents first, so that they restart nothing, then the pods, then the container runtime.
func (s *state) endProcesses() error {
	stray, err := processesNaming(s.Dir)
	if err != nil {
		return err
	}
	agents := slices.Concat(s.Processes, stray)
	if !s.Node {
		return kill(agents...)
	}
	agents = slices.DeleteFunc(agents, func(p processRecord) bool { return p.Name == "containerd" })
	if err := kill(agents...); err != nil {
		return err
	}
	for range 20 { // a container may start another process while the list is read
		pods := podProcesses()
		if len(pods) == 0 {
			break
		}
		if err := kill(pods...); err != nil {
			return err
		}
	}
	shims, err := processesNaming(runDir)
	if err != nil {
		return err
	}
	runtime, err := processesNaming(s.Dir)
	if err != nil {
		return err
	}
	return kill(slices.Concat(shims, runtime, s.Processes)...)
}

// clearMachine reverts the changes of a node outside its folder.
func (s *state) clearMachine() error {
	errs := []error{unmountBelow(s.Dir), unmountBelow(runDir)}
	for _, name := range s.Interfaces {
		errs = append(errs, removeInterface(name))
	}
	errs = append(errs, removeChains(), restoreSysctls(s.Sysctls), unshareMounts(s.Shared), removeCgroups())
	return errors.Join(errs...)
}

// removeFolders deletes the cluster's folder, or everything in it except its logs, and then runDir.
func (s *state) removeFolders() error {
	s.mu.Lock()
	keep := s.KeepLogs
	s.mu.Unlock()
	if keep {
		entries, err := os.ReadDir(s.Dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("list cluster folder: %w", err)
		}
		for _, e := range entries {
			if e.Name() == "logs" {
				continue
			}
			if err := removeTree(filepath.Join(s.Dir, e.Name())); err != nil {
				return err
			}
		}
	} else if err := removeTree(s.Dir); err != nil {
		return err
	}
	if !s.Node {
		return nil
	}
	removeHostTraces(s.Fresh)
	return removeTree(runDir)
}

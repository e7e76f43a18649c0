package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

// uiLine replaces make. It writes an operator that prints a URL like the real one and keeps
// running.
const uiLine = `mkdir -p $2/bin; printf '#!/bin/sh\necho "$@" >$0.args\necho http://127.0.0.1:9099/\nwhile :; do sleep 0.1; done\n' >$2/bin/operator; chmod +x $2/bin/operator`

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(state), ") Z ")
}

func (p *place) pagesPID(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(p.pagesFile("pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// One process serves the pages until down, even if the demo is run several times.
func TestPages(t *testing.T) {
	s := newStandIns(t, false, map[string]string{"make": uiLine, "kubectl": kubectlLine})
	t.Setenv("KUBECONFIG", "/their/config")
	p := s.place(t)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	var pids []int
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // no longer running if the test passed
		}
	})
	for range 2 {
		url, err := p.servePages(t.Context())
		if err != nil || url != "http://127.0.0.1:9099/" {
			t.Fatalf("served at %q, %v", url, err)
		}
		pids = append(pids, p.pagesPID(t))
	}
	ended := func(pid int) {
		t.Helper()
		if _, err := live.Until(t.Context(), 10*time.Second, func(context.Context) (bool, error) { return !running(pid), nil }); err != nil {
			t.Errorf("process %d does not end", pid)
		}
	}
	ended(pids[0])
	if !running(pids[1]) {
		t.Error("the second does not run")
	}
	args, err := os.ReadFile(filepath.Join(s.root, "bin", "operator.args"))
	if err != nil || !strings.HasPrefix(string(args), "ui --kubeconfig=/their/config --web.listen-address=127.0.0.1:") {
		t.Errorf("called with %q, %v", args, err)
	}
	if err := s.place(t).down(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(pids[1])
	if _, err := os.Stat(p.pagesFile("pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("down leaves %s", p.pagesFile("pid"))
	}
}

// Another process that has reused the process ID is not ended.
func TestPagesOfAnotherProcess(t *testing.T) {
	s := newStandIns(t, false, nil)
	t.Setenv("KUBECONFIG", "/their/config")
	p := s.place(t)
	if err := os.MkdirAll(p.pagesFile(""), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.pagesFile("pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.stopPages(t.Context()); err != nil {
		t.Error(err)
	}
}

// If the pages cannot be served, the error has the reason.
func TestPagesFail(t *testing.T) {
	s := newStandIns(t, false, map[string]string{"make": `mkdir -p $2/bin; printf '#!/bin/sh\necho no such context >&2; exit 2\n' >$2/bin/operator; chmod +x $2/bin/operator`})
	t.Setenv("KUBECONFIG", "/their/config")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := s.place(t).servePages(ctx); err == nil || !strings.Contains(err.Error(), "no such context") {
		t.Errorf("err = %v", err)
	}
}

package cage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
)

func start(t *testing.T, limit int64, script string) *cage.Process {
	t.Helper()
	p, err := cage.Start(cage.Program{Name: "cage-test", Path: "/bin/sh", Args: []string{"-c", script}, Limit: limit, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() }) // in case the test did not
	return p
}

func ended(t *testing.T, p *cage.Process) {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(time.Minute):
		t.Fatal("still running")
	}
}

// A program that exceeds its limit is killed, and Err reports it.
func TestKilledForWantOfMemory(t *testing.T) {
	p := start(t, 20<<20, `x=aaaaaaaaaaaaaaaa; while true; do x="$x$x"; done`)
	if err := p.Limited(); err != nil {
		t.Skipf("no cgroup can be written here: %v", err)
	}
	ended(t, p)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "killed for want of memory") || p.Usage().Kills == 0 {
		t.Errorf("error %v, usage %+v", err, p.Usage())
	}
	left, err := filepath.Glob("/sys/fs/cgroup/*/firekeeper-cage-test-*")
	if err != nil || len(left) > 0 {
		t.Errorf("cgroups left: %q %v", left, err)
	}
}

func TestEnds(t *testing.T) {
	p := start(t, 50<<20, "exit 3")
	ended(t, p)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
	p = start(t, 50<<20, "exit 0")
	ended(t, p)
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("error %v", err)
	}
	ready := filepath.Join(t.TempDir(), "ready")
	p = start(t, 0, "trap 'exit 0' TERM; touch "+ready+"; while true; do sleep 0.05; done")
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the program did not start")
		}
	}
	if p.Usage().RSS == 0 || p.Err() != nil {
		t.Errorf("running: %+v, %v", p.Usage(), p.Err())
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stopped: %v", err)
	}
}

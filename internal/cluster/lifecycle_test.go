package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// fakes returns a Finder of scripts that replace the real programs.
func fakes(t *testing.T, scripts map[string]string) *programs.Finder {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &programs.Finder{Assets: dir, Log: t.Output()}
}

const forever = "exec sleep 1000"

func TestStartNamesTheProgramThatDied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	finder := fakes(t, map[string]string{
		"etcd": forever, "kubectl": forever, "kube-apiserver": "echo flag provided but not defined; exit 3",
	})
	_, err := Start(t.Context(), Options{Dir: dir, Programs: finder, Log: t.Output()})
	died, ok := errors.AsType[*DiedError](err)
	if !ok {
		t.Fatalf("error = %v, want DiedError", err)
	}
	if died.Name != "kube-apiserver" || died.Tail != "flag provided but not defined" || died.Err.Error() != "exit status 3" {
		t.Errorf("died = %+v", died)
	}
	if _, err := os.Stat(died.Log); err != nil {
		t.Errorf("the log is gone: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("left besides the logs: %v %v", left, err)
	}
	strays, err := processesNaming(dir)
	if err != nil || len(strays) != 0 {
		t.Errorf("still running: %v %v", strays, err)
	}
}

func TestStartStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	finder := fakes(t, map[string]string{"etcd": forever, "kubectl": forever, "kube-apiserver": forever})
	enough := errors.New("enough")
	time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
	_, err := Start(ctx, Options{Dir: filepath.Join(t.TempDir(), "c"), Programs: finder, Log: t.Output()})
	if !errors.Is(err, enough) {
		t.Errorf("error = %v, want the context's cause", err)
	}
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	finder := fakes(t, map[string]string{"etcd": forever, "kubectl": forever, "kube-apiserver": forever})
	_, err := Start(t.Context(), Options{Dir: dir, Programs: finder, Log: t.Output()})
	if err == nil || !strings.Contains(err.Error(), "holds no cluster") {
		t.Errorf("error = %v, want a refusal", err)
	}
	if err := Down(dir, t.Output()); err != nil {
		t.Errorf("down: %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestRunningClusterIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	self, err := record("etcd", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := &state{Dir: dir, Processes: []processRecord{self}}
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	_, err = claim(t.Context(), Options{Dir: dir, Log: t.Output()})
	if running, ok := errors.AsType[*RunningError](err); !ok || running.Dir != dir {
		t.Errorf("error = %v, want RunningError", err)
	}
}

func TestOpenWithoutCluster(t *testing.T) {
	_, err := Open(t.TempDir(), nil)
	if _, ok := errors.AsType[*NotRunningError](err); !ok {
		t.Errorf("error = %v, want NotRunningError", err)
	}
}

// A process that is killed cannot clean up: the kernel must kill its children, and the next start in the same
// folder must remove the rest.
func TestChildrenEndWithAKilledParent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	if helperDir := os.Getenv("CLUSTER_TEST_DIR"); helperDir != "" {
		startAndWait(t, helperDir)
		return
	}
	helper := exec.Command(os.Args[0], "-test.run=^TestChildrenEndWithAKilledParent$")
	helper.Env = append(os.Environ(), "CLUSTER_TEST_DIR="+dir)
	child.DiesWithUs(helper)
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "started\n" {
		t.Fatalf("helper says %q, %v", line, err)
	}
	s, err := loadState(dir)
	if err != nil || len(s.Processes) != 1 || !s.alive() {
		t.Fatalf("state of the helper: %+v, %v", s, err)
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // killed
	for deadline := time.Now().Add(time.Minute); s.alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the child outlives its parent")
		}
	}
	if _, err := claim(t.Context(), Options{Dir: dir, Log: t.Output()}); err != nil {
		t.Errorf("the next start in the folder: %v", err)
	}
}

// startAndWait is the parent process to kill.
func startAndWait(t *testing.T, dir string) {
	s, err := claim(t.Context(), Options{Dir: dir, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir, log: t.Output(), state: s, programs: map[string]string{"etcd": sleep}}
	if _, err := c.start("etcd", "1000"); err != nil {
		t.Fatal(err)
	}
	fmt.Println("started")
	select {}
}

func TestDownEndsWhatACrashKeptFromTheState(t *testing.T) {
	dir := t.TempDir()
	s := &state{Dir: dir}
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	// A process that looks like one of ours, by name and by argument, but is not in the state.
	cmd := exec.Command("/bin/sh")
	cmd.Args = []string{"etcd", "-c", "read end; true", dir + "/etcd"} // ends with the pipe, and therefore with this process
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := Down(dir, t.Output()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the program was not killed")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

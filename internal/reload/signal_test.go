package reload

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
)

// processes writes a /proc directory with one stat line per process ID.
func processes(t *testing.T, lines map[int]string) string {
	t.Helper()
	dir := t.TempDir()
	for pid, line := range lines {
		d := filepath.Join(dir, strconv.Itoa(pid))
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "stat"), []byte(strconv.Itoa(pid)+" "+line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindProcess(t *testing.T) {
	proc := processes(t, map[int]string{
		7:   "(prometheus) Z 1",
		9:   "(prom) S 1",
		11:  "(prometheus) S 1",
		100: "(prometheus) S 1",
		12:  "(a (b) c) R 1",
		13:  "(fifteen-letters) S 1",
		14:  "broken",
	})
	for name, want := range map[string]int{
		"prometheus":               11,
		"a (b) c":                  12,
		"fifteen-letters-and-more": 13,
		"prometheus2":              0,
	} {
		pid, err := NewSignal(SignalOptions{Process: name, proc: proc}).find()
		if pid != want || (err == nil) != (want > 0) {
			t.Errorf("find %q = %d, %v, want %d", name, pid, err, want)
		}
	}
}

// promServer serves runtimeinfo; a signal calls onSignal.
type promServer struct {
	state    atomic.Value // string, the body; empty means status 503
	onSignal func()
	signals  atomic.Int64
}

func (p *promServer) trigger(t *testing.T) *Signal {
	t.Helper()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		body, _ := p.state.Load().(string)
		if body == "" {
			w.WriteHeader(503)
		}
		fmt.Fprint(w, body)
	})
	return NewSignal(SignalOptions{
		Process:  "prometheus",
		Info:     &RuntimeInfo{URL: mustURL(t, s.URL+"/api/v1/status/runtimeinfo"), Client: ClientOptions{Timeout: 5 * time.Second}},
		Deadline: 300 * time.Millisecond,
		proc:     processes(t, map[int]string{11: "(prometheus) S 1"}),
		kill: func(pid int, sig syscall.Signal) error {
			if pid != 11 || sig != syscall.SIGHUP {
				t.Errorf("signal %v to %d", sig, pid)
			}
			p.signals.Add(1)
			if p.onSignal != nil {
				p.onSignal()
			}
			return nil
		},
	})
}

func TestSignalOutcomes(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, tc := range map[string]struct {
		before, after string
		reason        Reason
		text          string
		signals       int64
	}{
		"loaded":                      {info(true, old), info(true, time.Now().Add(time.Minute)), "", "", 1},
		"recovers from a bad one":     {info(false, old), info(true, time.Now().Add(time.Minute)), "", "", 1},
		"the clock is set back":       {info(true, old), info(true, old.Add(-time.Hour)), "", "", 1},
		"refused":                     {info(true, old), info(false, old), Rejected, "reloadConfigSuccess=false", 1},
		"nothing happens":             {info(true, old), info(true, old), Timeout, "still reports reloadConfigSuccess=true", 1},
		"bad before and after":        {info(false, old), info(false, old), Timeout, "reloadConfigSuccess=false", 1},
		"still starting":              {"", "", NotReady, "503", 0},
		"goes away":                   {info(true, old), "", NotReady, "503", 1},
		"not a Prometheus":            {"<html>", "", Unreachable, "decode the answer", 0},
		"an answer without the state": {`{"status":"error"}`, "", Unreachable, `status "error"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &promServer{}
			p.state.Store(tc.before)
			p.onSignal = func() { p.state.Store(tc.after) }
			err := p.trigger(t).Reload(t.Context(), Request{})
			if ReasonOf(err) != tc.reason || (err == nil) != (tc.reason == "") {
				t.Fatalf("Reload = %v, want reason %q", err, tc.reason)
			}
			if err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %q does not say %q", err, tc.text)
			}
			if p.signals.Load() != tc.signals {
				t.Errorf("%d signals, want %d", p.signals.Load(), tc.signals)
			}
		})
	}
}

// If the server loads twice within one second, the second load is distinguished from the
// first.
func TestReloadInTheSameSecond(t *testing.T) {
	p := &promServer{}
	p.state.Store(info(true, time.Now()))
	p.onSignal = func() { p.state.Store(info(true, time.Now())) }
	s := p.trigger(t)
	s.opts.Deadline = patienceInTests
	for range 2 {
		if err := s.Reload(t.Context(), Request{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNewerContentEndsTheWait(t *testing.T) {
	p := &promServer{}
	p.state.Store(info(true, time.Now().Add(-time.Hour)))
	newer := make(chan struct{})
	p.onSignal = func() { close(newer) }
	s := p.trigger(t)
	s.opts.Deadline = time.Hour
	if err := s.Reload(t.Context(), Request{Superseded: newer}); ReasonOf(err) != Superseded {
		t.Errorf("Reload = %v", err)
	}
}

func TestSignalIsNotPermitted(t *testing.T) {
	s := NewSignal(SignalOptions{
		Process: "x", proc: processes(t, map[int]string{3: "(x) S 1"}),
		kill: func(int, syscall.Signal) error { return syscall.EPERM },
	})
	if err := s.Reload(t.Context(), Request{}); !errors.Is(err, syscall.EPERM) || ReasonOf(err) != Unreachable {
		t.Errorf("Reload = %v", err)
	}
}

// A real process is signaled: this test binary, see realTarget. It starts with SIGHUP
// ignored, as under nohup, where a shell could not trap it.
func TestRealProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), fmt.Sprintf("fk-target-%05d", os.Getpid()%100000)) // the maximum length of a command name
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), targetVar+"=1")
	child.DiesWithUs(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := NewSignal(SignalOptions{Process: filepath.Base(program)}).Reload(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the process ended with %v, want 7 from its handler", err)
	}
}

// targetVar makes a process of this binary the target of TestRealProcess.
const targetVar = "RELOAD_TEST_TARGET"

// realTarget waits for SIGHUP.
func realTarget() {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // even if it was ignored
	fmt.Println("ready")
	<-hup
	os.Exit(7)
}

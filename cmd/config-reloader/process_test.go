package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
)

const targetName = "fk-prometheus"

// TestTargetProcess is not a test. TestSignalMethod runs it in a separate process as a
// server that reloads its configuration on a signal.
func TestTargetProcess(t *testing.T) {
	config := os.Getenv("CONFIG_RELOADER_TARGET")
	if config == "" {
		t.Skip("only used by TestSignalMethod")
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	live := config + ".live"
	s := reloadtest.NewTLS(t, func() error {
		b, err := os.ReadFile(config)
		if err == nil && strings.Contains(string(b), "bad") {
			err = errors.New("bad")
		}
		if err != nil {
			return err
		}
		return os.WriteFile(live, b, 0o644)
	})
	must(t, os.WriteFile(config+".part", []byte(s.InfoURL()), 0o644))
	must(t, os.Rename(config+".part", config+".url"))
	for range hup {
		_ = s.Reload() // the result is visible in runtimeinfo
	}
}

// executable copies the test binary to a file with this name, which becomes the name of
// the process.
func executable(t *testing.T, name string) string {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	must(t, err)
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, self, 0o755))
	return path
}

// TestSignalMethod runs two real processes: the program and a TLS server that handles
// SIGHUP.
func TestSignalMethod(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	target := exec.Command(executable(t, targetName), "-test.run=^TestTargetProcess$")
	target.Env = append(os.Environ(), "CONFIG_RELOADER_TARGET="+s.out)
	child.DiesWithUs(target)
	must(t, target.Start())
	t.Cleanup(func() { target.Process.Kill(); target.Wait() })
	exists := func(path string) func() bool {
		return func() bool { _, err := os.Stat(path); return err == nil }
	}
	reloadtest.Until(t, "the server", exists(s.out+".url"))

	p := start(t, s.args()[0], s.args()[1], s.args()[2], "--reload-method=signal",
		"--process-executable-name="+targetName, "--runtimeinfo-url="+read(t, s.out+".url"))
	for _, text := range []string{"v0", "v1", "v2"} { // several changes within one second
		s.put(t, text)
		reloadtest.Until(t, text+" to run", func() bool { return exists(s.out+".live")() && read(t, s.out+".live") == text })
		p.Until("the report", func() bool { return p.Report().Ready })
	}
	s.put(t, "bad")
	p.Until("the refusal", func() bool { return strings.Contains(p.Log.String(), "reloadConfigSuccess=false") })
	s.put(t, "v3")
	p.Until("the correction", func() bool { return read(t, s.out+".live") == "v3" && p.Report().Ready })
	if got := p.Metric(`reloader_info{method="signal"}`); got != "1" {
		t.Errorf("reloader_info %s", got)
	}
}

// command returns a command that runs the program in a separate process.
func command(t *testing.T, args ...string) (*exec.Cmd, *logtest.Log) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	log := &logtest.Log{}
	cmd.Env = append(os.Environ(), "CONFIG_RELOADER_MAIN=1")
	cmd.Stdout, cmd.Stderr = log, log
	child.DiesWithUs(cmd)
	return cmd, log
}

func TestTerminationIsSuccess(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		s := newSite(t)
		s.put(t, "v0")
		cmd, log := command(t, s.args()...)
		must(t, cmd.Start())
		s.waitLive(t, "v0")
		must(t, cmd.Process.Signal(sig))
		if err := cmd.Wait(); err != nil || !strings.Contains(log.String(), "msg=Stopped") {
			t.Errorf("%v: %v\n%s", sig, err, log)
		}
	}
}

// TestUnreadable runs the program as a user without permissions.
func TestUnreadable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become somebody else")
	}
	program := executable(t, "reloader")
	closed := filepath.Join(filepath.Dir(program), "closed")
	must(t, os.Mkdir(closed, 0o700))
	must(t, os.WriteFile(filepath.Join(closed, "config"), nil, 0o600))
	for name, tc := range map[string]struct{ args, want string }{
		"config":         {"--config-file=" + closed + "/config", "read config: open " + closed + "/config: permission denied"},
		"watched folder": {"--watched-dir=" + closed, "read folder " + closed + ": permission denied"},
		"output folder":  {"--config-file=/etc/passwd --config-envsubst-file=" + closed + "/out", "write output: "},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, log := command(t, strings.Fields(tc.args)...)
			cmd.Path, cmd.Args[0] = program, program
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			child.DiesWithUs(cmd)
			err := cmd.Run()
			if errors.Is(err, fs.ErrPermission) {
				t.Skipf("the test folder cannot be entered by other users: %v", err)
			}
			if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(log.String(), tc.want) {
				t.Errorf("exit code %d (%v), want 1 and %q:\n%s", code, err, tc.want, log)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	s := newSite(t)
	s.out = filepath.Join(dir, "out")
	s.put(t, "v0")
	p := start(t, s.args()...)
	s.waitLive(t, "v0")
	s.put(t, strings.Repeat("far too much ", 10000))
	p.Until("the message", func() bool { return strings.Contains(p.Log.String(), "no space left on device") })
	if read(t, s.out) != "v0" || s.server.Stats().Requests != 1 {
		t.Errorf("output %q, %d requests", read(t, s.out), s.server.Stats().Requests)
	}
	s.put(t, "v1")
	s.waitLive(t, "v1")
}

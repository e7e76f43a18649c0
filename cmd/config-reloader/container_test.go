//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

// container is a memory cgroup with an in-memory volume, like those of the kubelet.
type container struct {
	t       *testing.T
	program string
	dir     string // path of the cgroup
	v2      bool
	out     string // path of the output in the volume
	vol     *volumetest.Volume
}

// containers is the number of containers that were created.
var containers atomic.Int64

// newContainer returns a container. It skips the test if no cgroup can be created.
func newContainer(t *testing.T, limit int64) *container {
	t.Helper()
	c := &container{t: t, vol: volumetest.New(t)}
	name := fmt.Sprintf("config-reloader-test-%d-%d", os.Getpid(), containers.Add(1))
	for _, root := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		c.dir, c.v2 = filepath.Join(root, name), root == "/sys/fs/cgroup"
		if os.Mkdir(c.dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(c.dir) })
		if os.WriteFile(filepath.Join(c.dir, c.file("memory.limit_in_bytes", "memory.max")), []byte(strconv.FormatInt(limit, 10)), 0o600) == nil {
			c.mount(limit)
			return c
		}
	}
	t.Skip("needs a memory cgroup, of version 1 or 2, in which this user may make others")
	return nil
}

func (c *container) file(v1, v2 string) string {
	if c.v2 {
		return v2
	}
	return v1
}

func (c *container) mount(limit int64) {
	dir := c.t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.FormatInt(2*limit, 10)); err != nil {
		c.t.Skipf("needs a volume in memory: %v", err)
	}
	c.t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			c.t.Error(err)
		}
	})
	c.out = filepath.Join(dir, "prometheus.env.yaml")
	// Swap would prevent the out-of-memory kill of a container without swap.
	_ = os.WriteFile(filepath.Join(c.dir, c.file("memory.swappiness", "memory.swap.max")), []byte("0"), 0o600)
	c.program = programFile(c.t)
}

// programFile builds the program, because the test binary with the race detector needs
// more memory.
func programFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config-reloader")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return file
}

// command returns the command that runs the program in the cgroup.
func (c *container) command(args ...string) *exec.Cmd {
	args = append([]string{"-c", `echo $$ > "$CGROUP" && exec "$0" "$@"`, c.program, "--listen-address=127.0.0.1:0",
		"--config-file=" + c.vol.Path(key), "--config-envsubst-file=" + c.out, "--watched-dir=" + c.vol.Dir}, args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = append(os.Environ(), "POD_NAME=prometheus-k8s-3", "CGROUP="+filepath.Join(c.dir, "cgroup.procs"))
	return cmd
}

// once runs the init container and returns its log.
func (c *container) once() (string, error) {
	log, err := c.command("--watch-interval=0").CombinedOutput()
	return string(log), err
}

func (c *container) value(v1, v2 string) string {
	b, err := os.ReadFile(filepath.Join(c.dir, c.file(v1, v2)))
	must(c.t, err)
	return strings.TrimSpace(string(b))
}

// survived fails the test if the kernel has killed a process.
func (c *container) survived(what string) {
	c.t.Helper()
	for line := range strings.Lines(c.value("memory.oom_control", "memory.events")) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok && strings.TrimSpace(n) != "0" {
			c.t.Fatalf("%s: killed for memory", what)
		}
	}
	c.t.Logf("%s: at most %s bytes", what, c.value("memory.max_usage_in_bytes", "memory.peak"))
}

// holds checks the files that the server reads. This needs no memory of the container,
// because pages are charged to the process that has written them.
func (c *container) holds(what string, text func(io.Writer), rules int64) {
	c.t.Helper()
	want := sha256.New()
	text(want)
	got := sha256.New()
	f, err := os.Open(c.out)
	must(c.t, err)
	defer f.Close()
	_, err = io.Copy(got, f)
	must(c.t, err)
	if !bytes.Equal(want.Sum(nil), got.Sum(nil)) {
		c.t.Fatalf("%s: the output is something else", what)
	}
	var total int64
	files, err := filepath.Glob(filepath.Join(filepath.Dir(c.out), "rules", "*.yaml"))
	must(c.t, err)
	for _, file := range files {
		info, err := os.Stat(file)
		must(c.t, err)
		total += info.Size()
	}
	if total != rules {
		c.t.Fatalf("%s: %d bytes of rules, want %d", what, total, rules)
	}
}

func (c *container) run(size, rules int64, changes int) {
	t := c.t
	first := plain(size, "first")
	c.vol.Swap(content(t, first, "first", rules))
	for _, what := range []string{"first start", "second start"} {
		if log, err := c.once(); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, log)
		}
		c.survived(what)
		c.holds(what, first, rules)
	}
	for i := range changes {
		seed := fmt.Sprintf("start-%d", i)
		text := plain(size, seed)
		c.vol.Swap(content(t, text, seed, rules))
		if log, err := c.once(); err != nil {
			t.Fatalf("start with another: %v\n%s", err, log)
		}
		c.survived("start with another")
		c.holds("start with another", text, rules)
	}
	last := c.sidecar(size, rules, changes)
	// A configuration that is too large is rejected: the last output is kept, and no
	// process is killed.
	c.vol.Swap(content(t, plain(size+footprint.MaxPlain(0)/512, "large"), "large", rules))
	if log, err := c.once(); err == nil || !strings.Contains(log, "--config-reloader-memory-limit") {
		t.Errorf("what is too large: %v\n%s", err, log)
	}
	c.survived("too large")
	c.holds("too large", last, rules)
}

// sidecar runs the sidecar through changes of the whole content, and returns the last
// configuration.
func (c *container) sidecar(size, rules int64, changes int) (text func(io.Writer)) {
	t := c.t
	server := reloadtest.New(t, func() error {
		_, err := os.Stat(c.out)
		return err
	})
	cmd := c.command("--reload-url="+server.ReloadURL(), "--watch-interval=1h")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the sidecar: %v\n%s", err, log.String())
		}
	}()
	server.Wait(t, "the first reload", func(s reloadtest.Stats) bool { return s.Loaded > 0 })
	for i := range changes {
		seed := fmt.Sprintf("sidecar-%d", i)
		text = plain(size, seed)
		before := server.Stats().Loaded
		c.vol.Swap(content(t, text, seed, rules))
		server.Wait(t, "a reload after "+seed, func(s reloadtest.Stats) bool { return s.Loaded > before })
		c.survived("change in the sidecar")
		c.holds("change in the sidecar", text, rules)
	}
	return text
}

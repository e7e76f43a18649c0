package programs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// batch is one run of go build, for programs of one folder, which share most of their
// packages.
type batch struct {
	folder  string   // absolute, has the go.mod
	pkgs    []string // to build
	ldflags string
	tags    string
	out     string // output folder
	module  string // that determines the version
	embeds  string // file that the module lacks, see source
}

// buildOrder sorts slow builds last, so that an early failure does not cost their
// minutes.
func buildOrder(missing map[string][]string) []string {
	long := map[string]int{
		"coredns": 1, "alertmanager": 1, "alertmanager-0.21": 1, "alertmanager-0.24": 1, "alertmanager-0.27": 1,
		"blackbox-exporter": 1, "kube-state-metrics": 1, "kube-rbac-proxy": 1,
		"prometheus": 2, "thanos": 2, "kubernetes": 3,
		"prometheus-2.47": 4, "prometheus-2.53": 4, "prometheus-2.55": 4, "prometheus-3.5": 4,
	}
	folders := slices.Sorted(maps.Keys(missing))
	slices.SortStableFunc(folders, func(a, b string) int { return long[a] - long[b] })
	return folders
}

// make builds the given programs of one folder into the cache and adds their paths to
// found.
func (f *Finder) make(ctx context.Context, folder string, names []string, found map[string]string) error {
	if f.Sources == "" {
		return fmt.Errorf("%s: %w", strings.Join(names, ", "), ErrNoSourceTree)
	}
	if f.Cache == "" {
		return fmt.Errorf("build %s: no cache folder: set FIREKEEPER_CACHE", strings.Join(names, ", "))
	}
	v, err := pinnedVersion(f.Sources, table[names[0]])
	if err != nil {
		return err
	}
	dir := filepath.Join(f.Cache, folder+"-"+v)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make cache folder: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, ".lock"), func() {
		fmt.Fprintf(f.Log, "programs: waiting for another process that builds %s %s\n", folder, v)
	})
	if err != nil {
		return err
	}
	defer unlock()
	var still []string // not built by the other process
	for _, name := range names {
		found[name] = filepath.Join(dir, fileOf(name))
		if !executable(found[name]) {
			still = append(still, name)
		}
	}
	if len(still) == 0 {
		return nil
	}
	return f.buildInto(ctx, dir, v, still)
}

// buildInto builds in a scratch folder and renames the results, so that programs in the
// cache are always complete.
func (f *Finder) buildInto(ctx context.Context, dir, v string, names []string) error {
	scratch, err := os.MkdirTemp(dir, ".build-")
	if err != nil {
		return fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	src := table[names[0]]
	b := batch{
		folder:  filepath.Join(f.Sources, src.folder),
		ldflags: strings.TrimSpace("-s -w " + expand(src.ldflags, v)),
		tags:    src.tags,
		out:     scratch,
		module:  src.module,
		embeds:  src.embeds,
	}
	for _, name := range names {
		b.pkgs = append(b.pkgs, table[name].pkg)
	}
	what := fmt.Sprintf("%s %s", strings.Join(names, ", "), v)
	done := f.progress(what)
	run := f.build
	if run == nil {
		run = goBuild
	}
	err = run(ctx, b)
	done(err)
	if err != nil {
		return fmt.Errorf("build %s: %w", what, err)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(scratch, fileOf(name)), filepath.Join(dir, fileOf(name))); err != nil {
			return fmt.Errorf("keep built program: %w", err)
		}
	}
	return nil
}

func expand(ldflags, v string) string {
	minor := "0"
	if parsed, ok := parseVersion(v); ok {
		minor = fmt.Sprint(parsed[1])
	}
	return strings.NewReplacer("{v}", strings.TrimPrefix(v, "v"), "{minor}", minor).Replace(ldflags)
}

// goBuild runs go build outside the workspace. Without -trimpath, it shares the packages that
// are compiled for the programs and tests of this project.
func goBuild(ctx context.Context, b batch) error {
	args := []string{"build", "-buildvcs=false", "-ldflags", b.ldflags, "-tags", b.tags, "-o", b.out + "/"}
	if b.embeds != "" {
		modfile, err := b.withEmbedded(ctx)
		if err != nil {
			return err
		}
		args = append(args, "-modfile", modfile)
	}
	_, err := goTool(ctx, b.folder, append(args, b.pkgs...)...)
	return err
}

// goTool runs the go command in a folder and returns its standard output.
func goTool(ctx context.Context, folder string, args ...string) ([]byte, error) {
	var printed, failed bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &printed, &failed
	// GOGC saves a fifth of the compilers' processor time.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOGC=400")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signal the compilers too
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, tail(failed.Bytes(), 4000))
	}
	return bytes.TrimSpace(printed.Bytes()), nil
}

func tail(out []byte, limit int) []byte {
	out = bytes.TrimSpace(out)
	return out[max(0, len(out)-limit):]
}

// progress logs the build immediately and every ten seconds until the returned function is called.
func (f *Finder) progress(what string) (done func(error)) {
	start := time.Now()
	elapsed := func() time.Duration { return time.Since(start).Round(time.Second) }
	line := func(format string, args ...any) { fmt.Fprintf(f.Log, format+"\n", args...) }
	line("programs: building %s (minutes on a cold Go build cache)", what)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				line("programs: still building %s: %s", what, elapsed())
			case <-stop:
				return
			}
		}
	}()
	return func(err error) {
		close(stop)
		<-stopped
		if err == nil {
			line("programs: built %s in %s", what, elapsed())
		}
	}
}

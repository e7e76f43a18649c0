package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// versions holds the versions of the measured programs.
type versions struct{ operator, golang, kubernetes, etcd string }

// operatorVersion matches the first line of operator --version.
var operatorVersion = regexp.MustCompile(`version (\S+) .*revision: (\w+)`)

// find runs the programs to get their versions.
func (v *versions) find(ctx context.Context, program string, b *controlPlane) error {
	text, err := exec.CommandContext(ctx, program, "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", program, err, text)
	}
	m := operatorVersion.FindStringSubmatch(string(text))
	if m == nil {
		return fmt.Errorf("%s --version: no version in %q", program, text)
	}
	v.operator = m[1] + " (" + m[2] + ")"
	build, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	v.golang = strings.TrimPrefix(build.GoVersion, "go")
	raw, err := b.kube.Discovery().RESTClient().Get().AbsPath("/version").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	var server struct{ GitVersion string }
	if err := json.Unmarshal(raw, &server); err != nil {
		return fmt.Errorf("version of the API server: %w", err)
	}
	v.kubernetes = strings.TrimPrefix(server.GitVersion, "v")
	return b.store.version(ctx, &v.etcd)
}

// version returns the version of etcd.
func (s *store) version(ctx context.Context, into *string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/version", nil)
	if err != nil {
		return err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	var out struct{ Etcdserver string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return err
	}
	*into = out.Etcdserver
	return nil
}

// measured returns a sentence with the time, the versions and the machine.
func (v versions) measured(day time.Time) string {
	return fmt.Sprintf("Measured on %s with operator %s, built with Go %s, Kubernetes %s and etcd %s, all on one machine: %s.",
		day.UTC().Format(time.DateOnly), v.operator, v.golang, v.kubernetes, v.etcd, machine())
}

// machine describes this machine: "2 cores (Intel Xeon), 24 GiB, Linux 6.1.0".
func machine() string {
	out := fmt.Sprintf("%d cores", runtime.NumCPU())
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		out += " (" + model + ")"
	}
	if kib, err := strconv.Atoi(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB")); err == nil {
		out += fmt.Sprintf(", %.0f GiB", float64(kib)/(1<<20))
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		release, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-")
		out += ", Linux " + release
	}
	return out
}

// field returns the value of the first line "NAME: VALUE" of a file, or "".
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// untouched is the memory that touch does not use for a second, in bytes.
const untouched = 64 << 20

// touch returns the time to write one byte to each page of 64 MiB that was not used for a second. It is one or two
// milliseconds, unless the host of this machine reclaims idle memory. All latencies and CPU times are higher then, because
// the memory of a process that waits for a change is idle.
func touch() time.Duration {
	memory := make([]byte, untouched)
	pass := func() time.Duration {
		began := time.Now()
		for i := 0; i < len(memory); i += os.Getpagesize() {
			memory[i]++
		}
		return time.Since(began)
	}
	pass()
	time.Sleep(time.Second)
	return pass()
}

// hostMemory describes the speed of idle memory.
func hostMemory(touches []time.Duration) string {
	if len(touches) == 0 {
		return ""
	}
	least, most := slices.Min(touches).Milliseconds(), slices.Max(touches).Milliseconds()
	took := fmt.Sprintf("%d ms", least)
	if most > least {
		took = fmt.Sprintf("%d to %d ms", least, most)
	}
	text := " 64 MiB that were idle for a second were touched again in " + took
	if most < slowMemory.Milliseconds() {
		return text + "."
	}
	return text + ": where the host leaves idle memory alone, it takes 1 to 2 ms, and latencies and CPU times are lower."
}

// slowMemory is the time for touch from which idle memory makes other figures worse.
const slowMemory = 5 * time.Millisecond

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A program grows by megabytes when an import makes a large package reachable, which no other test
// notices. Raise a limit only with a reason for what has become larger.
func TestSizeOfPrograms(t *testing.T) {
	for program, limit := range map[string]int64{"operator": 84_400_000, "config-reloader": 13_800_000, "rules-reloader": 13_500_000} {
		t.Run(program, func(t *testing.T) {
			const initial = 500_000 // bytes that our packages may allocate before main
			file := filepath.Join(t.TempDir(), program)
			build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", file, "./"+program)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", info.Size())
			if info.Size() > limit {
				t.Errorf("%d bytes, limit %d: go tool nm -size -sort size on a build without -s -w shows what has become larger", info.Size(), limit)
			}
			if n, trace := initialized(t, file); n > initial {
				t.Errorf("our packages allocate %d bytes at their initialization, limit %d: make what only some commands need lazy\n%s", n, initial, trace)
			}
		})
	}
}

// initialized returns how many bytes the packages of this module allocate when a program starts, and the lines about
// them. It is a part of the time that even --version takes.
func initialized(t *testing.T, file string) (bytes int, trace string) {
	t.Helper()
	version := exec.Command(file, "--version")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := version.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const ours = "init github.com/firekeeper-dev/"
	for line := range strings.Lines(string(out)) { // init PACKAGE @1 ms, 0.1 ms clock, 100 bytes, 3 allocs
		if !strings.HasPrefix(line, ours) {
			continue
		}
		fields := strings.Fields(line)
		for i, word := range fields {
			if word == "bytes," {
				n, err := strconv.Atoi(fields[i-1])
				if err != nil {
					t.Fatal(line)
				}
				bytes += n
			}
		}
		trace += line
	}
	if trace == "" {
		t.Fatalf("no package of ours is initialized:\n%s", out)
	}
	return bytes, trace
}

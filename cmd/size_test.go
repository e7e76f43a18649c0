package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program grows by megabytes when an import makes a large package reachable, which no other test
// notices. Raise a limit only with a reason for what has become larger.
func TestSizeOfPrograms(t *testing.T) {
	for program, limit := range map[string]int64{"operator": 79_500_000, "config-reloader": 13_800_000, "rules-reloader": 13_500_000} {
		t.Run(program, func(t *testing.T) {
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
		})
	}
}

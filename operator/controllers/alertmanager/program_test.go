package alertmanager

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// flagError is the prefix of the program's errors about invalid arguments.
const flagError = "alertmanager: error: "

// The real program accepts the arguments of the golden files. It checks them first and
// then exits because the configuration is missing.
func TestProgramTakesArguments(t *testing.T) {
	program := programtest.Find(t, "alertmanager")
	if said := startProgram(t, program, []string{"--web.timeout=30"}); !strings.Contains(said, flagError) {
		t.Fatalf("a wrong argument is not noticed: %s", said)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		c, err := golden.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		s := newStory(t, c)
		s.am.Spec.Version, s.am.Spec.EnableFeatures = "", nil // use the version of the program, which has a fixed set of features
		args, err := s.builder().args()
		if err != nil {
			t.Fatal(err)
		}
		if said := startProgram(t, program, args); !strings.Contains(said, "error loading configuration file") {
			t.Errorf("%s: %s", file, said)
		}
	}
}

// startProgram returns the output of the program when it has exited. The program forms no
// cluster and writes to a directory of the test.
func startProgram(t *testing.T, program string, args []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	own := map[string]string{"cluster.listen-address": "", "storage.path": t.TempDir(), "config.file": "missing.yaml", "web.listen-address": "127.0.0.1:0"}
	var line []string
	for _, a := range args {
		if name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "="); own[name] == "" && name != "cluster.listen-address" && name != "cluster.tls-config" {
			line = append(line, a)
		}
	}
	for name, value := range own {
		line = append(line, "--"+name+"="+value)
	}
	out, _ := exec.CommandContext(ctx, program, line...).CombinedOutput() // it always fails
	return string(out)
}

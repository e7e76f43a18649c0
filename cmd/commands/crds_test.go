package commands

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// asOperator is the environment variable that makes the test binary run as the operator,
// to test signals.
const asOperator = "RUN_AS_OPERATOR"

// asPlugin is the environment variable that makes the test binary run as the plugin,
// because completion ends the process.
const asPlugin = "RUN_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		Main(Operator)
	}
	if os.Getenv(asPlugin) != "" {
		os.Exit(Plugin(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	patience = time.Hour // no additional output on a busy machine
	os.Exit(clustertest.Main(m))
}

// The older spellings print the same as the newer ones.
func TestPrint(t *testing.T) {
	standard, full := command(t, 0, "crds", "print"), command(t, 0, "crds", "print", "--full")
	if n := strings.Count(standard, "kind: CustomResourceDefinition\n"); n != 10 {
		t.Errorf("%d definitions, want 10", n)
	}
	if len(full) <= len(standard) {
		t.Errorf("the full set has %d bytes, the other %d", len(full), len(standard))
	}
	if got := command(t, 0, "crds"); got != standard {
		t.Error("`crds` prints something else than `crds print`")
	}
	if got := command(t, 0, "full-crds"); got != full {
		t.Error("`full-crds` prints something else than `crds print --full`")
	}
}

// Applying and comparing CRDs prints the changes, with the documented exit codes.
func TestApplyAndDiff(t *testing.T) {
	kubeconfig := "--kubeconfig=" + clustertest.Shared(t, cluster.Options{}).Kubeconfig
	if got := command(t, 1, "crds", "diff", kubeconfig); !strings.Contains(got, "probes.monitoring.coreos.com\n  + not installed\n") {
		t.Errorf("diff before: %s", got)
	}
	if got := command(t, 0, "crds", "apply", kubeconfig); strings.Count(got, " created\n") != 10 {
		t.Errorf("apply: %s", got)
	}
	if got := command(t, 0, "crds", "diff", kubeconfig); got != "" {
		t.Errorf("diff after: %s", got)
	}
	if got := command(t, 1, "crds", "diff", "--full", kubeconfig); !strings.Contains(got, "\n  + version v1beta1\n") {
		t.Errorf("diff of the other set: %s", got)
	}
	command(t, 2, "crds", "diff", "--apiserver=http://127.0.0.1:1")
	command(t, 1, "crds", "apply", "--apiserver=http://127.0.0.1:1")
}

// The operator installs its CRDs before it starts its controllers.
func TestManage(t *testing.T) {
	c := clustertest.Shared(t, cluster.Options{})
	if _, err := c.Kubectl(t.Context(), "delete", "crd", "--all"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	stdout, log := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Operator(ctx, []string{
			"--manage-crds=true", "--labels=team=core", "--kubeconfig=" + c.Kubeconfig, "--web.listen-address=127.0.0.1:0",
		}, log, log)
		log.Close()
	}()
	applied, complete := 0, false
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		applied += strings.Count(lines.Text(), `msg="applied CRD"`)
		if strings.Contains(lines.Text(), `msg="caches synced"`) {
			complete = true
			stop() // the rest is read too, so that the operator can stop
		}
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d\n%s", got, &printed)
	}
	if applied != 10 || !complete {
		t.Errorf("%d CRDs applied, want 10; caches synced: %v", applied, complete)
	}
	out, err := c.Kubectl(t.Context(), "get", "crd", "-l", "team=core", "-o", "name")
	if err != nil || strings.Count(string(out), "\n") != 10 {
		t.Errorf("CRDs with our label: %s (%v)", out, err)
	}
}

// command runs the program and returns its output.
func command(t *testing.T, code int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := Operator(t.Context(), args, &stdout, &stderr); got != code {
		t.Fatalf("operator %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, &stderr)
	}
	return stdout.String()
}

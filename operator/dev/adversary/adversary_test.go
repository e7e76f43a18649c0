package adversary_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// TestAttack is the short version of `make adversary`: the first objects of one seed.
func TestAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	}
	dir, err := cluster.TempDir("adversary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	needsCgroups(t, dir)
	for _, program := range []string{"operator", "config-reloader"} {
		if _, err := trial.Build(dir, program); err != nil {
			t.Fatal(err)
		}
	}
	o := adversary.Defaults()
	o.Root, o.Bin, o.Out = filepath.Join("..", "..", ".."), dir, filepath.Join(dir, "out")
	o.Objects, o.Duration, o.Batch, o.Alive, o.Restarts, o.Minimise = 40, time.Minute, 20, 60, 1, 0
	o.Promtool, o.Log = false, t.Output()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	result, err := adversary.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(result.Text())
	for _, f := range result.Findings {
		t.Errorf("%s: %s", f.Kind, f.Text)
	}
}

// needsCgroups skips the test if memory cgroups are not writable.
func needsCgroups(t *testing.T, dir string) {
	t.Helper()
	p, err := cage.Start(cage.Program{Name: "probe", Path: "/bin/true", Limit: 50 << 20, Log: filepath.Join(dir, "probe.log")})
	if err != nil {
		t.Skipf("no program can be started in a cgroup here: %v", err)
	}
	<-p.Ended()
	if err := errors.Join(p.Limited()); err != nil {
		t.Skipf("no memory cgroup can be made here: %v", err)
	}
}

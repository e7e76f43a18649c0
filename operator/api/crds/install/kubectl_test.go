package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
)

// The files of deploy/crds can be installed without the operator's program, one by one
// with a plain `kubectl apply`, and then taken over.
func TestKubectl(t *testing.T) {
	c := connect(t)
	wipe(t, c)
	where := clustertest.Shared(t, cluster.Options{})
	files, err := filepath.Glob("../../../../deploy/crds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 10 {
		t.Fatalf("%d files, want 10", len(files))
	}
	for _, want := range []string{"created", "unchanged"} {
		for _, file := range files {
			out, err := where.Kubectl(t.Context(), "apply", "-f", file)
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), want) {
				t.Errorf("kubectl apply -f %s: %.500v, want %s\n%s", file, err, want, out)
			}
		}
	}
	if got := apply(t, c, install.Options{Version: "1.0.0"}); got[install.Configured] != 10 {
		t.Errorf("apply after kubectl: %v, want 10 configured", got)
	}
	for _, m := range get(t, c, "probes.monitoring.coreos.com").ManagedFields {
		if m.Manager == "kubectl-client-side-apply" {
			t.Errorf("%s still owns %s", m.Manager, m.FieldsV1)
		}
	}
}

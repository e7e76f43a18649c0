package clustertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestSharedIsStartedOnce(t *testing.T) {
	var clusters [4]*cluster.Cluster
	t.Run("from parallel tests", func(t *testing.T) {
		for i := range clusters {
			t.Run("test", func(t *testing.T) {
				t.Parallel()
				clusters[i] = Shared(t, cluster.Options{})
			})
		}
	})
	if clusters[0] == nil {
		t.Skip("no cluster")
	}
	for _, c := range clusters {
		if c != clusters[0] {
			t.Errorf("two shared clusters: %v and %v", c.Dir, clusters[0].Dir)
		}
	}
	out, err := clusters[0].Kubectl(t.Context(), "auth", "whoami", "-o", "jsonpath={.status.userInfo.groups}")
	if err != nil || !strings.Contains(string(out), "system:masters") {
		t.Errorf("groups of the administrator = %s, %v", out, err)
	}
}

// Two control planes run side by side, do not see each other's objects, and leave nothing behind.
func TestControlPlanesSideBySide(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Start(t, cluster.Options{ControllerManager: true})
			manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
			if _, err := c.KubectlInput(t.Context(), []byte(manifest), "apply", "-f", "-"); err != nil {
				t.Fatal(err)
			}
			out, err := c.Kubectl(t.Context(), "get", "configmaps", "-o", "name")
			if want := "configmap/kube-root-ca.crt\nconfigmap/" + name + "\n"; err != nil || string(out) != want {
				t.Errorf("configmaps = %q, %v, want %q", out, err, want)
			}
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is still there: %v", err)
			}
			if err := c.ImportImage(t.Context(), "x.tar"); !errors.Is(err, cluster.ErrNoNode) {
				t.Errorf("import without a node: %v", err)
			}
		})
	}
}

// A detached cluster can be opened by its folder, and Down stops it even if one of its programs has crashed.
func TestDetachedClusterIsFoundAndTakenDown(t *testing.T) {
	needsCluster(t, cluster.Options{})
	dir := filepath.Join(t.TempDir(), "c")
	started, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, Detach: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Down(dir, os.Stderr); err != nil {
			t.Error(err)
		}
	})
	found, err := cluster.Open(dir, t.Output())
	if err != nil || found.Host != started.Host || found.Token != started.Token {
		t.Fatalf("open = %+v, %v", found, err)
	}
	if _, err := found.Kubectl(t.Context(), "get", "namespace", "default"); err != nil {
		t.Error(err)
	}
	_, err = cluster.Start(t.Context(), cluster.Options{Dir: dir, Log: t.Output()})
	if _, ok := errors.AsType[*cluster.RunningError](err); !ok {
		t.Errorf("second start in the folder: %v, want RunningError", err)
	}
	etcd, err := os.FindProcess(found.Processes()["etcd"])
	if err != nil {
		t.Fatal(err)
	}
	if err := etcd.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Down(dir, t.Output()); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Open(dir, t.Output()); err == nil {
		t.Error("still there after down")
	}
}

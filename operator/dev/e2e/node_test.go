// Package e2e runs the whole product on a one-node Kubernetes with real pods:
//
//	FIREKEEPER_E2E=1 go test ./operator/dev/e2e/...      (root; `make e2e`)
//	FIREKEEPER_E2E=long go test ./operator/dev/e2e/...   (root; `make e2e-long`)
//
// With FIREKEEPER_E2E_CLUSTER=<folder of a cluster started by "make cluster-up">, the tests use that cluster and leave
// it running.
package e2e

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/internal/live"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Main(m)) }

// isLong reports whether to run all tests in full.
func isLong() bool { return os.Getenv("FIREKEEPER_E2E") == "long" }

// long skips a test unless all run: tests of code that seldom changes or that the integration tests cover without pods.
func long(t *testing.T) {
	t.Helper()
	if !isLong() {
		t.Skip("one of `make e2e-long`")
	}
}

// node is the shared cluster with our images, CRDs and operator.
type node struct {
	*cluster.Cluster
	proxy *live.Proxy
	kube  kubernetes.Interface
}

var (
	prepareOnce sync.Once
	prepared    node
	prepareErr  error
)

// start returns the node. The first call prepares it.
func start(t *testing.T) node {
	t.Helper()
	c := shared(t)
	prepareOnce.Do(func() { prepared, prepareErr = prepare(c) })
	if prepareErr != nil {
		t.Fatal(prepareErr)
	}
	return prepared
}

// shared returns the cluster of this run, or one that is already running.
func shared(t *testing.T) *cluster.Cluster {
	t.Helper()
	dir := os.Getenv("FIREKEEPER_E2E_CLUSTER")
	if dir == "" {
		return clustertest.Shared(t, cluster.Options{Node: true, Log: os.Stderr})
	}
	c, err := cluster.Open(dir, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func prepare(c *cluster.Cluster) (node, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	n := node{Cluster: c}
	var err error
	n.kube, err = kubernetes.NewForConfig(&rest.Config{
		Host: c.Host, BearerToken: c.Token, QPS: 1000, Burst: 1000, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile},
	})
	if err != nil {
		return n, err
	}
	if err := loadImages(ctx, c); err != nil {
		return n, err
	}
	if err := c.LoadPrometheus(ctx, prometheusImage); err != nil {
		return n, err
	}
	if out, err := c.KubectlInput(ctx, []byte(discoveryRole), "apply", "-f", "-"); err != nil {
		return n, errors.Join(err, errors.New(string(out)))
	}
	if out, err := c.Kubectl(ctx, "apply", "-k", filepath.Join(root(), "deploy")); err != nil {
		return n, errors.Join(err, errors.New(string(out)))
	}
	if _, err := c.Kubectl(ctx, "-n", "firekeeper", "rollout", "status", "deployment/prometheus-operator", "--timeout=2m"); err != nil {
		return n, err
	}
	// The proxy runs until the test binary exits.
	n.proxy, err = live.StartProxy(context.Background(), filepath.Join(c.Dir, "bin", "kubectl"), c.Kubeconfig)
	return n, err
}

// prometheusImage is the default image of Prometheus pods.
const prometheusImage = "quay.io/prometheus/prometheus:" + wellknown.DefaultPrometheusVersion

// discoveryRole contains the permissions that a Prometheus needs for service discovery.
const discoveryRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: e2e-discovery}
rules:
- {apiGroups: [""], resources: [services, endpoints, pods], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
`

// loadImages builds the project's three images from the working tree and loads them into the node.
func loadImages(ctx context.Context, c *cluster.Cluster) error {
	build := exec.CommandContext(ctx, "make", "image-files")
	build.Dir, build.Stdout, build.Stderr = root(), os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(root(), ".version"))
	if err != nil {
		return err
	}
	for _, img := range []cluster.Image{
		{Name: "operator", Dockerfile: "Dockerfile.operator"},
		{Name: "config-reloader", Dockerfile: "Dockerfile.reloader", Args: map[string]string{"RELOADER": "config-reloader"}},
		{Name: "rules-reloader", Dockerfile: "Dockerfile.reloader", Args: map[string]string{"RELOADER": "rules-reloader"}},
	} {
		img.Name = "docker.io/firekeeper/" + img.Name + ":v" + strings.TrimSpace(string(version))
		img.Context, img.Dockerfile = root(), filepath.Join(root(), img.Dockerfile)
		if err := c.LoadImage(ctx, img); err != nil {
			return err
		}
	}
	return nil
}

// root returns the folder of the working tree.
func root() string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(wd)))
}

// realManifests returns the folder of the public kube-prometheus manifests.
func realManifests(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FIREKEEPER_SHARED")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(root()), "shared")
	}
	dir = filepath.Join(dir, "real", "kube-prometheus")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the kube-prometheus manifests are not at %s (set FIREKEEPER_SHARED)", dir)
	}
	return dir
}

func (n node) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// until waits until check returns true and fails the test after limit.
func until(t *testing.T, what string, limit time.Duration, check func(context.Context) (bool, error)) time.Duration {
	t.Helper()
	took, err := live.Until(t.Context(), limit, check)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return took
}

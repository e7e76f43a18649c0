package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// scratch is the folder of the operator binary and the audit log.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = cluster.TempDir("integration"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	waitTogether()
	code := clustertest.Main(m)
	if code == 0 && shared != nil && flag.Lookup("test.run").Value.String() == "" {
		calls, err := shared.audit.everything()
		wrong := shared.rights(shared.granted, calls)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, text := range wrong {
			fmt.Fprintln(os.Stderr, "deploy/rbac.yaml:", text)
			code = 1
		}
	}
	if err := os.RemoveAll(scratch); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// waitTogether allows more parallel tests than there are cores, because tests mostly wait for a minute to pass or for
// the garbage collector of the cluster.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(6+runtime.GOMAXPROCS(0)))
	}
}

// environment is the cluster that all tests share, with the CRDs and permissions of deploy/.
type environment struct {
	cluster *cluster.Cluster
	config  *rest.Config
	kube    kubernetes.Interface
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	audit   *auditLog
	// program is the operator binary, built with the race detector if FIREKEEPER_RACE is set; commands is the binary
	// for other commands.
	program, commands string
	env               []string // additional environment of operators
	granted           []rbacv1.PolicyRule
}

var (
	once   sync.Once
	shared *environment
)

// start returns the shared environment. Each test that changes objects should use its own namespace (see namespace).
func start(t *testing.T) *environment {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	}
	policy := filepath.Join(scratch, "audit-policy.yaml")
	log := filepath.Join(scratch, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	c := clustertest.Shared(t, cluster.Options{ControllerManager: true, APIServerArgs: []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + log,
	}})
	once.Do(func() { shared = prepare(t, c, log) })
	if shared == nil {
		t.Fatal("an earlier test could not prepare the cluster")
	}
	return shared
}

func prepare(t *testing.T, c *cluster.Cluster, audit string) *environment {
	t.Helper()
	w := newEnvironment(t, c)
	w.audit = &auditLog{path: audit}
	w.applyFolder(t, deploy(t, "crds"))
	w.established(t)
	w.applyFile(t, deploy(t, "namespace.yaml"))
	w.applyFile(t, deploy(t, "rbac.yaml"))
	w.granted = w.rules(t)
	w.commands = build(t, "commands")
	w.program = w.commands
	if os.Getenv("FIREKEEPER_RACE") != "" {
		w.program = build(t, "operator", "-race")
	}
	return w
}

// established waits until all CRDs are served, including their discovery documents, which are updated with a delay.
func (w *environment) established(t *testing.T) {
	t.Helper()
	for _, crd := range w.list(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "") {
		w.waitFor(t, crd, "established", func(o *unstructured.Unstructured) error { return hasCondition(o, "Established", "True") })
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		eventually(t, kind+" is discovered", func() error {
			w.mapper.Reset()
			_, err := w.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind})
			return err
		})
	}
}

// newEnvironment connects to an empty cluster.
func newEnvironment(t *testing.T, c *cluster.Cluster) *environment {
	t.Helper()
	w := &environment{
		cluster: c,
		config:  &rest.Config{Host: c.Host, BearerToken: c.Token, QPS: 1000, Burst: 1000, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, WarningHandler: rest.NoWarnings{}},
	}
	var err error
	if w.kube, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.kube.Discovery()))
	return w
}

// build compiles the operator.
func build(t *testing.T, name string, flags ...string) string {
	t.Helper()
	began := time.Now()
	out := filepath.Join(scratch, name)
	args := append([]string{"build", "-buildvcs=false", "-o", out}, flags...) // git fails in a checkout of another user
	cmd := exec.CommandContext(context.Background(), "go", append(args, "github.com/firekeeper-dev/firekeeper/cmd/operator")...)
	if slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, text)
	}
	t.Logf("built %s in %s", name, time.Since(began).Round(time.Second))
	return out
}

// deploy returns the path of a file below deploy/.
func deploy(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sharedFile returns the path of real input next to the checkout. It skips the test if the file does not exist.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	if root := os.Getenv("FIREKEEPER_SHARED"); root != "" {
		return filepath.Join(root, name)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "shared", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("no folder shared/%s above the module; set FIREKEEPER_SHARED", name)
	return ""
}

package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// deadline bounds every wait. It is no expectation: other packages may load the machine, and reflectors pause for up to a
// minute after several failures.
const deadline = 2 * time.Minute

func TestMain(m *testing.M) {
	code := clustertest.Main(m)
	if complete {
		if err := write(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// world is a cluster with the CRDs and permissions of deploy/.
type world struct {
	cluster *cluster.Cluster
	kube    kubernetes.Interface
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

var (
	sharedOnce  sync.Once
	sharedWorld *world
)

// shared returns the cluster of all tests that leave it alone.
func shared(t *testing.T) *world {
	t.Helper()
	c := clustertest.Shared(t, cluster.Options{ControllerManager: true})
	sharedOnce.Do(func() { sharedWorld = prepare(t, c) })
	if sharedWorld == nil {
		t.Fatal("an earlier test could not prepare the cluster")
	}
	return sharedWorld
}

// own returns a cluster for one test.
func own(t *testing.T) *world {
	t.Helper()
	return prepare(t, clustertest.Start(t, cluster.Options{ControllerManager: true}))
}

func prepare(t *testing.T, c *cluster.Cluster) *world {
	t.Helper()
	config := &rest.Config{
		Host: c.Host, BearerToken: c.Token, QPS: 1000, Burst: 1000,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, WarningHandler: rest.NoWarnings{},
	}
	w := &world{cluster: c}
	var err error
	if w.kube, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.kube.Discovery()))
	w.apply(t, read(t, "namespace.yaml"))
	w.apply(t, read(t, "rbac.yaml"))
	files, err := filepath.Glob(deploy("crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, f := range files {
		if filepath.Base(f) != "kustomization.yaml" {
			w.apply(t, read(t, "crds", filepath.Base(f)))
		}
	}
	w.served(t)
	return w
}

// served waits until all our kinds are served and discovered.
func (w *world) served(t *testing.T) {
	t.Helper()
	for _, k := range kinds {
		if k.Group == "monitoring.coreos.com" {
			await(t, k.Resource+" are served", func() error {
				_, err := w.objects.Resource(k).List(t.Context(), metav1.ListOptions{Limit: 1})
				if err == nil {
					w.mapper.Reset()
					_, err = w.mapper.KindFor(k)
				}
				return err
			})
		}
	}
}

// await repeats a check that no event announces until it passes.
func await(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: still not after %s: %v", what, deadline, err)
		case <-tick.C:
		}
	}
}

// deploy returns the path of a file below deploy/.
func deploy(name ...string) string {
	return filepath.Join(slices.Concat([]string{"..", "..", "..", "deploy"}, name)...)
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(deploy(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// built is the folder of the operator; empty before [program].
var built string

// program builds the operator once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := cluster.TempDir("chaos")
	if err != nil {
		return "", err
	}
	built = dir
	out := filepath.Join(dir, "operator")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", out, "github.com/firekeeper-dev/firekeeper/cmd/operator")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the operator: %w\n%s", err, text)
	}
	return out, nil
})

func (w *world) of(t *testing.T, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	gvk := o.GroupVersionKind()
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	if ns := o.GetNamespace(); ns != "" {
		return w.objects.Resource(mapping.Resource).Namespace(ns)
	}
	return w.objects.Resource(mapping.Resource)
}

// decoded returns the objects in a YAML stream.
func decoded(t *testing.T, manifests string) (out []*unstructured.Unstructured) {
	t.Helper()
	docs := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifests)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// apply creates or changes objects like kubectl apply --server-side.
func (w *world) apply(t *testing.T, manifests string) {
	t.Helper()
	for _, o := range decoded(t, manifests) {
		if _, err := w.of(t, o).Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "user", Force: true}); err != nil {
			t.Fatalf("apply %s %s/%s: %v", o.GetKind(), o.GetNamespace(), o.GetName(), err)
		}
	}
}

// patch changes an object with a JSON merge patch.
func (w *world) patch(t *testing.T, namespace, resource, name, patch string) {
	t.Helper()
	if _, err := w.objects.Resource(kindOf(t, resource)).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatalf("patch %s %s: %v", resource, name, err)
	}
}

// remove deletes an object in the background, like kubectl.
func (w *world) remove(t *testing.T, namespace, resource, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	err := w.objects.Resource(kindOf(t, resource)).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("delete %s %s: %v", resource, name, err)
	}
}

func kindOf(t *testing.T, resource string) schema.GroupVersionResource {
	t.Helper()
	at := slices.IndexFunc(kinds, func(k schema.GroupVersionResource) bool { return k.Resource == resource })
	if at < 0 {
		t.Fatalf("%s are not compared", resource)
	}
	return kinds[at]
}

const monitoring = "monitoring.coreos.com"

// kinds are the kinds of objects that are compared.
var kinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: monitoring, Version: "v1", Resource: "prometheuses"},
	{Group: monitoring, Version: "v1", Resource: "alertmanagers"},
	{Group: monitoring, Version: "v1", Resource: "thanosrulers"},
	{Group: monitoring, Version: "v1", Resource: "servicemonitors"},
	{Group: monitoring, Version: "v1", Resource: "podmonitors"},
	{Group: monitoring, Version: "v1", Resource: "probes"},
	{Group: monitoring, Version: "v1", Resource: "prometheusrules"},
	{Group: monitoring, Version: "v1alpha1", Resource: "scrapeconfigs"},
	{Group: monitoring, Version: "v1alpha1", Resource: "alertmanagerconfigs"},
}

package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// Deadline bounds every wait. It is no expectation: other packages may load the machine, and reflectors pause for up to a
// minute after several failures.
const Deadline = 2 * time.Minute

// Environment is a cluster with the CRDs and permissions of deploy/.
type Environment struct {
	Cluster *cluster.Cluster
	Kube    kubernetes.Interface
	Objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

// Prepare installs the CRDs and permissions on a cluster.
func Prepare(t *testing.T, c *cluster.Cluster) *Environment {
	t.Helper()
	config := &rest.Config{
		Host: c.Host, BearerToken: c.Token, QPS: 1000, Burst: 1000,
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, WarningHandler: rest.NoWarnings{},
	}
	w := &Environment{Cluster: c}
	var err error
	if w.Kube, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if w.Objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.Kube.Discovery()))
	w.Apply(t, read(t, "namespace.yaml"))
	w.Apply(t, read(t, "rbac.yaml"))
	files, err := filepath.Glob(Deploy("crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, f := range files {
		if filepath.Base(f) != "kustomization.yaml" {
			w.Apply(t, read(t, "crds", filepath.Base(f)))
		}
	}
	w.Served(t)
	return w
}

// Served waits until all our Kinds are served and discovered.
func (w *Environment) Served(t *testing.T) {
	t.Helper()
	for _, k := range Kinds {
		if k.Group == "monitoring.coreos.com" {
			Await(t, k.Resource+" are served", func() error {
				_, err := w.Objects.Resource(k).List(t.Context(), metav1.ListOptions{Limit: 1})
				if err == nil {
					w.mapper.Reset()
					_, err = w.mapper.KindFor(k)
				}
				return err
			})
		}
	}
}

// Await repeats a check that no event announces until it passes.
func Await(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
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
			t.Fatalf("%s: still not after %s: %v", what, Deadline, err)
		case <-tick.C:
		}
	}
}

// Deploy returns the path of a file below deploy/.
func Deploy(name ...string) string {
	return filepath.Join(slices.Concat([]string{"..", "..", "..", "deploy"}, name)...)
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(Deploy(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// built is the folder of the operator; empty before [program].
var built string

// Clean removes the operator that was built. Call it from TestMain.
func Clean() {
	if built != "" {
		_ = os.RemoveAll(built)
	}
}

// program builds the operator once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := cluster.TempDir("operator")
	if err != nil {
		return "", err
	}
	built = dir
	return Build(dir, "operator")
})

// Build builds a program of the project into a folder, and returns its path.
func Build(dir, name string) (string, error) {
	out := filepath.Join(dir, name)
	text, err := Command("go", "build", "-buildvcs=false", "-o", out, "github.com/firekeeper-dev/firekeeper/cmd/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, text)
	}
	return out, nil
}

func (w *Environment) of(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if ns := o.GetNamespace(); ns != "" {
		return w.Objects.Resource(mapping.Resource).Namespace(ns), nil
	}
	return w.Objects.Resource(mapping.Resource), nil
}

// Apply creates or changes objects like kubectl apply --server-side.
func (w *Environment) Apply(t *testing.T, manifests string) {
	t.Helper()
	if err := w.TryApply(t.Context(), manifests); err != nil {
		t.Fatal(err)
	}
}

// TryApply is like [Environment.Apply] while the API server may be away.
func (w *Environment) TryApply(ctx context.Context, manifests string) error {
	all, err := objects.Parse([]byte(manifests))
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := w.TryApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// TryApplyObject is like [Environment.TryApply] for one object.
func (w *Environment) TryApplyObject(ctx context.Context, o *unstructured.Unstructured) error {
	api, err := w.of(o)
	if err == nil {
		_, err = api.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "user", Force: true})
	}
	if err != nil {
		return fmt.Errorf("apply %s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
	}
	return nil
}

// Patch changes an object with a JSON merge patch.
func (w *Environment) Patch(t *testing.T, namespace, resource, name, patch string) {
	t.Helper()
	if _, err := w.Objects.Resource(KindOf(t, resource)).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatalf("patch %s %s: %v", resource, name, err)
	}
}

// Remove deletes an object in the background, like kubectl.
func (w *Environment) Remove(t *testing.T, namespace, resource, name string) {
	t.Helper()
	if err := w.TryRemove(t.Context(), namespace, KindOf(t, resource), name); err != nil {
		t.Fatal(err)
	}
}

// TryRemove is like [Environment.Remove] while the API server may be away.
func (w *Environment) TryRemove(ctx context.Context, namespace string, kind schema.GroupVersionResource, name string) error {
	background := metav1.DeletePropagationBackground
	err := w.Objects.Resource(kind).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", kind.Resource, name, err)
	}
	return nil
}

// KindOf returns a compared kind by its resource.
func KindOf(t *testing.T, resource string) schema.GroupVersionResource {
	t.Helper()
	at := slices.IndexFunc(Kinds, func(k schema.GroupVersionResource) bool { return k.Resource == resource })
	if at < 0 {
		t.Fatalf("%s are not compared", resource)
	}
	return Kinds[at]
}

const monitoring = "monitoring.coreos.com"

// Kinds are the kinds of objects that are compared.
var Kinds = []schema.GroupVersionResource{
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

// Get decodes a JSON page, or returns its text if into is a string.
func Get(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	if text, is := into.(*string); is || err != nil {
		if is {
			*text = string(body)
		}
		return err
	}
	return json.Unmarshal(body, into)
}

package integration

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

var notDNS = regexp.MustCompile("[^a-z0-9]+")

// namespace creates a namespace for one test and returns its name. labels are added to it ("key", "value", …).
func (w *environment) namespace(t *testing.T, labels ...string) string {
	t.Helper()
	name := strings.Trim(notDNS.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", Labels: map[string]string{}}}
	for i := 0; i+1 < len(labels); i += 2 {
		ns.Labels[labels[i]] = labels[i+1]
	}
	ns, err := w.kube.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

func (w *environment) resource(t *testing.T, apiVersion, kind, namespace string) dynamic.ResourceInterface {
	t.Helper()
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := w.mapper.RESTMapping(gv.WithKind(kind).GroupKind(), gv.Version)
	if err != nil {
		t.Fatal(err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return w.objects.Resource(mapping.Resource).Namespace(namespace)
	}
	return w.objects.Resource(mapping.Resource)
}

func (w *environment) of(t *testing.T, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	return w.resource(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace())
}

// apply creates or changes objects like kubectl apply --server-side.
func (w *environment) apply(t *testing.T, manifests string) {
	t.Helper()
	all, err := objects.Parse([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if _, err := w.of(t, o).Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "user", Force: true}); err != nil {
			t.Fatalf("apply %s %s/%s: %v", o.GetKind(), o.GetNamespace(), o.GetName(), err)
		}
	}
}

func (w *environment) applyFile(t *testing.T, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, string(raw))
}

// applyFolder applies the manifests of a folder, the namespace first.
func (w *environment) applyFolder(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", path, err)
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return rank(a) - rank(b)
	})
	for _, f := range files {
		w.applyFile(t, f)
	}
}

func rank(path string) int {
	if filepath.Base(path) == "namespace.yaml" {
		return 0
	}
	return 1
}

func (w *environment) get(t *testing.T, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	t.Helper()
	return w.resource(t, apiVersion, kind, namespace).Get(t.Context(), name, metav1.GetOptions{})
}

func (w *environment) list(t *testing.T, apiVersion, kind, namespace string) []*unstructured.Unstructured {
	t.Helper()
	list, err := w.resource(t, apiVersion, kind, namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

// waitFor reads an object until check returns nil.
func (w *environment) waitFor(t *testing.T, o *unstructured.Unstructured, what string, check func(*unstructured.Unstructured) error) {
	t.Helper()
	api := w.of(t, o)
	eventually(t, fmt.Sprintf("%s %s %s", o.GetKind(), o.GetName(), what), func() error {
		now, err := api.Get(t.Context(), o.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return check(now)
	})
}

// hasCondition returns an error unless an object has a condition with this status.
func hasCondition(o *unstructured.Unstructured, kind, status string, reason ...string) error {
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, c := range conditions {
		c, ok := c.(map[string]any)
		if ok && c["type"] == kind && c["status"] == status && (len(reason) == 0 || c["reason"] == reason[0]) {
			return nil
		}
	}
	return fmt.Errorf("conditions are %v", conditions)
}

// reconciled waits until a Prometheus has this status of the condition Reconciled.
func (w *environment) reconciled(t *testing.T, namespace, name, status string, reason ...string) *unstructured.Unstructured {
	t.Helper()
	return w.reports(t, owner(namespace, name), status, reason...)
}

// reports waits until a workload of any kind has this status of the condition Reconciled.
func (w *environment) reports(t *testing.T, o *unstructured.Unstructured, status string, reason ...string) *unstructured.Unstructured {
	t.Helper()
	var out *unstructured.Unstructured
	w.waitFor(t, o, "reports Reconciled "+status, func(o *unstructured.Unstructured) error {
		out = o
		seen := generationOf(o, "Reconciled")
		if seen != o.GetGeneration() {
			return fmt.Errorf("generation %d of %d is reported", seen, o.GetGeneration())
		}
		return hasCondition(o, "Reconciled", status, reason...)
	})
	return out
}

func generationOf(o *unstructured.Unstructured, kind string) int64 {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			n, _ := c["observedGeneration"].(int64)
			return n
		}
	}
	return -1
}

func owner(namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("monitoring.coreos.com/v1")
	o.SetKind("Prometheus")
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// patch changes an object with a JSON merge patch.
func (w *environment) patch(t *testing.T, apiVersion, kind, namespace, name, patch string) {
	t.Helper()
	_, err := w.resource(t, apiVersion, kind, namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("patch %s %s: %v", kind, name, err)
	}
}

func (w *environment) delete(t *testing.T, apiVersion, kind, namespace, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	err := w.resource(t, apiVersion, kind, namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatalf("delete %s %s: %v", kind, name, err)
	}
}

// agent returns a PrometheusAgent with only its identity.
func agent(namespace, name string) *unstructured.Unstructured {
	o := owner(namespace, name)
	o.SetAPIVersion("monitoring.coreos.com/v1alpha1")
	o.SetKind("PrometheusAgent")
	return o
}

// configuration returns the decoded configuration in a Secret.
func (w *environment) configuration(t *testing.T, namespace, secret string) (string, error) {
	t.Helper()
	s, err := w.kube.CoreV1().Secrets(namespace).Get(t.Context(), secret, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(s.Data["prometheus.yaml.gz"]))
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(r)
	return string(out), err
}

// jobs waits until the configuration of a Prometheus has exactly these jobs.
func (w *environment) jobs(t *testing.T, namespace, name string, want ...string) {
	t.Helper()
	w.jobsIn(t, namespace, "prometheus-"+name, want...)
}

// jobsIn is jobs for the configuration in a Secret.
func (w *environment) jobsIn(t *testing.T, namespace, secret string, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("jobs %v of %s/%s", want, namespace, secret), func() error {
		text, err := w.configuration(t, namespace, secret)
		if err != nil {
			return err
		}
		var got []string
		for line := range strings.SplitSeq(text, "\n") {
			if job, ok := strings.CutPrefix(line, "- job_name: "); ok {
				got = append(got, job)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("jobs are %v", got)
		}
		return nil
	})
}

// ruleFiles returns the contents of the rule ConfigMaps of a Prometheus by file name.
func (w *environment) ruleFiles(t *testing.T, namespace, name string) map[string]string {
	t.Helper()
	maps, err := w.kube.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "prometheus-name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range maps.Items {
		for file, text := range m.Data {
			out[file] = text
		}
	}
	return out
}

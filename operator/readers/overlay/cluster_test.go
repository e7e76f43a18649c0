package overlay_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
)

// cluster is a fake reader of pods and Secrets.
type cluster struct {
	pods    []*corev1.Pod
	secrets assets.Static
	err     error
}

func (c *cluster) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	if c.err != nil {
		return nil, c.err
	}
	for _, p := range c.pods {
		if of == readers.Pods && p.Namespace == key.Namespace && p.Name == key.Name {
			return p, nil
		}
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

func (c *cluster) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, err
	}
	for _, p := range c.pods {
		if q.GroupVersionResource == readers.Pods && (q.Namespace == "" || q.Namespace == p.Namespace) && selector.Matches(labels.Set(p.Labels)) {
			if kept := q.Kept(p); kept != nil {
				out = append(out, kept)
			}
		}
	}
	return out, c.err
}

func (c *cluster) References(context.Context) assets.Reader { return &c.secrets }

func pod(namespace, name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid of " + name), Labels: map[string]string{"app": app}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
	}
}

const applied = `
{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: "2", labels: {app: new}}}
---
{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: "0", labels: {app: web}}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: a, name: changed}, stringData: {k: new}}
`

func over(t *testing.T, c *cluster, text string) *overlay.Cluster {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.Load([]string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return overlay.Over(c, objects)
}

// A list selects by the labels of the manifests, not by those in the cluster.
func TestList(t *testing.T) {
	c := &cluster{pods: []*corev1.Pod{pod("a", "1", "web"), pod("a", "2", "web"), pod("b", "2", "web")}}
	for name, tc := range map[string]struct {
		query readers.Query
		want  []string
	}{
		"all":          {readers.Query{}, []string{"a/0", "a/1", "a/2", "b/2"}},
		"a namespace":  {readers.Query{Namespace: "a"}, []string{"a/0", "a/1", "a/2"}},
		"the label":    {readers.Query{Labels: "app=web"}, []string{"a/0", "a/1", "b/2"}},
		"a new label":  {readers.Query{Labels: "app=new"}, []string{"a/2"}},
		"another kind": {readers.Query{GroupVersionResource: readers.Services}, nil},
		"what is kept": {readers.Query{Keep: func(o readers.Object) readers.Object {
			if o.GetName() == "2" {
				return nil
			}
			return o
		}}, []string{"a/0", "a/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.query.Resource == "" {
				tc.query.GroupVersionResource = readers.Pods
			}
			list, err := over(t, c, applied).List(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range list {
				got = append(got, o.GetNamespace()+"/"+o.GetName())
			}
			if !slices.Equal(got, tc.want) {
				t.Error(cmp.Diff(tc.want, got))
			}
		})
	}
	c.err = apierrors.NewForbidden(readers.Pods.GroupResource(), "", nil)
	if _, err := over(t, c, applied).List(t.Context(), readers.Query{GroupVersionResource: readers.Pods}); !apierrors.IsForbidden(err) {
		t.Errorf("what may not be listed: %v", err)
	}
}

// An applied manifest keeps the fields that the API server keeps, and no others.
func TestGet(t *testing.T) {
	c := &cluster{pods: []*corev1.Pod{pod("a", "1", "web"), pod("a", "2", "web")}}
	get := func(name string) (*corev1.Pod, error) {
		o, err := over(t, c, applied).Get(t.Context(), readers.Pods, types.NamespacedName{Namespace: "a", Name: name})
		if err != nil {
			return nil, err
		}
		return o.(*corev1.Pod), nil
	}
	if p, err := get("2"); err != nil || p.UID != "uid of 2" || p.Labels["app"] != "new" || p.Status.PodIP != "10.0.0.1" {
		t.Errorf("changed: %+v, %v", p, err)
	}
	if p, err := get("0"); err != nil || p.UID != "" || p.Status.Phase != corev1.PodPending {
		t.Errorf("new: %+v, %v", p, err)
	}
	if p, err := get("1"); err != nil || p.Labels["app"] != "web" {
		t.Errorf("not among the manifests: %+v, %v", p, err)
	}
	if _, err := get("none"); !apierrors.IsNotFound(err) {
		t.Errorf("nowhere: %v", err)
	}
	if c.pods[1].Labels["app"] != "web" {
		t.Error("what was read was changed")
	}
	c.err = apierrors.NewServiceUnavailable("down")
	if _, err := get("2"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("no answer: %v", err)
	}
}

func TestReferences(t *testing.T) {
	c := &cluster{}
	for _, name := range []string{"changed", "kept"} {
		c.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}, StringData: map[string]string{"k": "old"}})
	}
	r := over(t, c, applied).References(t.Context())
	for name, want := range map[string]string{"changed": "new", "kept": "old"} {
		if o, err := r.Object(assets.Ref{Kind: assets.Secret, Namespace: "a", Name: name}); err != nil || string(o.Values["k"]) != want {
			t.Errorf("%s: %v, %v", name, o, err)
		}
	}
	if _, err := r.Object(assets.Ref{Kind: assets.Secret, Namespace: "a", Name: "none"}); !assets.IsNotFound(err) {
		t.Errorf("nowhere: %v", err)
	}
}

// May implements readers.Reviewer.
func (c *cluster) May(_ context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	return account.Name == "prometheus" && verb == "list" && of.Resource == "pods" && namespace == "app", nil
}

// Permissions come from the API server, unless the manifests contain RBAC objects.
func TestPermissions(t *testing.T) {
	may := func(text string) (bool, error) {
		c := over(t, &cluster{}, text)
		return c.May(t.Context(), types.NamespacedName{Namespace: "monitoring", Name: "prometheus"}, "list", schema.GroupResource{Resource: "pods"}, "app")
	}
	if allowed, err := may("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: app}\n"); !allowed || err != nil {
		t.Errorf("without Roles: %v, %v", allowed, err)
	}
	for _, kind := range []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} {
		text := "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: web, namespace: app}\n"
		if allowed, err := may(text); allowed || !apierrors.IsForbidden(err) {
			t.Errorf("with a %s: %v, %v", kind, allowed, err)
		}
	}
}

// Roles, ServiceAccounts and pod controllers of the manifests are listed too.
func TestOthers(t *testing.T) {
	c := over(t, &cluster{}, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: monitoring}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: other, namespace: monitoring}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: app}
`)
	for of, want := range map[schema.GroupVersionResource]string{readers.ClusterRoles: "/reader", readers.ServiceAccounts: "monitoring/prometheus", readers.Deployments: "app/web"} {
		_, name, _ := strings.Cut(want, "/")
		got, err := c.List(t.Context(), readers.Query{GroupVersionResource: of, Name: name})
		if err != nil || len(got) != 1 || got[0].GetNamespace()+"/"+got[0].GetName() != want {
			t.Errorf("%s: %v, %v", of.Resource, got, err)
		}
	}
}

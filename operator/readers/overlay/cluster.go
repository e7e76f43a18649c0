package overlay

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Cluster is a [readers.Reader] of a cluster with manifests applied.
type Cluster struct {
	under     readers.Reader
	manifests *manifests.Objects
	objects   map[schema.GroupVersionResource][]readers.Object // from the manifests, sorted by namespace and name
}

// Over returns a reader of under with manifests applied.
func Over(under readers.Reader, manifests *manifests.Objects) *Cluster {
	c := &Cluster{under: under, manifests: manifests, objects: map[schema.GroupVersionResource][]readers.Object{}}
	for _, row := range catalog.All {
		for _, o := range manifests.All(row) {
			c.add(row.GroupVersionResource(), o)
		}
	}
	for _, o := range manifests.Native() {
		if of, known := resources[reflect.TypeOf(readers.Object(o))]; known {
			withDefaults(o)
			c.add(of, o)
		}
	}
	for _, all := range c.objects {
		slices.SortStableFunc(all, compareKeys)
	}
	return c
}

func (c *Cluster) add(of schema.GroupVersionResource, o readers.Object) {
	c.objects[of] = append(c.objects[of], o)
}

// Native returns the manifests of Kubernetes kinds.
func (c *Cluster) Native() []manifests.Native { return c.manifests.Native() }

// Get implements [readers.Reader].
func (c *Cluster) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	manifest := c.manifest(of, key)
	if manifest == nil {
		return c.under.Get(ctx, of, key)
	}
	there, err := c.under.Get(ctx, of, key)
	switch {
	case err == nil:
		return carry(manifest, there), nil
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // new, or its old state is unknown
		return carry(manifest, nil), nil
	}
	return nil, err
}

// List implements [readers.Reader].
func (c *Cluster) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, err
	}
	selects := func(o readers.Object) bool {
		return (q.Namespace == "" || o.GetNamespace() == q.Namespace) && (q.Name == "" || o.GetName() == q.Name) && selector.Matches(labels.Set(o.GetLabels()))
	}
	old := map[types.NamespacedName]readers.Object{}
	below := q
	below.Keep = func(o readers.Object) readers.Object {
		if c.manifest(q.GroupVersionResource, catalog.KeyOf(o)) != nil {
			old[catalog.KeyOf(o)] = o
			return nil
		}
		return q.Kept(o)
	}
	out, err := c.under.List(ctx, below)
	if err != nil {
		return nil, err
	}
	for _, o := range c.objects[q.GroupVersionResource] {
		if !selects(o) {
			continue
		}
		if kept := q.Kept(carry(o, old[catalog.KeyOf(o)])); kept != nil {
			out = append(out, kept)
		}
	}
	slices.SortStableFunc(out, compareKeys) // in the order of the API server
	return out, nil
}

// References implements [readers.Reader].
func (c *Cluster) References(ctx context.Context) assets.Reader {
	return references{&c.manifests.References, c.under.References(ctx)}
}

type references struct {
	manifests *assets.Static
	under     assets.Reader
}

// Object implements [assets.Reader].
func (r references) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.manifests.Object(ref)
	if assets.IsNotFound(err) {
		return r.under.Object(ref)
	}
	return o, err
}

// Brings reports whether a Secret or ConfigMap is among the manifests.
func (c *Cluster) Brings(ref assets.Ref) bool {
	_, err := c.manifests.References.Object(ref)
	return err == nil
}

// manifest returns the manifest of an object; nil when there is none.
func (c *Cluster) manifest(of schema.GroupVersionResource, key types.NamespacedName) readers.Object {
	all := c.objects[of]
	i, has := slices.BinarySearchFunc(all, key, func(o readers.Object, key types.NamespacedName) int { return compare(catalog.KeyOf(o), key) })
	if !has {
		return nil
	}
	return all[i]
}

func compareKeys(a, b readers.Object) int { return compare(catalog.KeyOf(a), catalog.KeyOf(b)) }

func compare(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

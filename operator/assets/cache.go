package assets

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Versions tells the current version of an object without reading it, as a
// metadata informer can.
type Versions interface {
	// Version returns the resourceVersion, "" when the object does not exist.
	// known is false when the object is not watched.
	Version(ref Ref) (version string, known bool)
}

// Cache reads objects from the API server and keeps each as long as its
// version stands. Only objects that were asked for are kept.
type Cache struct {
	kube     kubernetes.Interface
	versions Versions

	mu      sync.Mutex
	objects map[Ref]Object
}

// NewCache returns an empty cache.
func NewCache(kube kubernetes.Interface, versions Versions) *Cache {
	return &Cache{kube: kube, versions: versions, objects: map[Ref]Object{}}
}

// Current reports whether every dependency still has the version that was seen.
// Objects that are not watched are never current.
func (c *Cache) Current(deps []Dependency) bool {
	for _, d := range deps {
		if v, known := c.versions.Version(d.Ref); !known || v != d.Version {
			return false
		}
	}
	return true
}

// Forget drops an object, after its deletion.
func (c *Cache) Forget(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, ref)
}

// Reader returns a Reader whose calls end with the context.
func (c *Cache) Reader(ctx context.Context) Reader { return cacheReader{c, ctx} }

type cacheReader struct {
	cache *Cache
	ctx   context.Context
}

func (r cacheReader) Object(ref Ref) (Object, error) { return r.cache.object(r.ctx, ref) }

func (c *Cache) object(ctx context.Context, ref Ref) (Object, error) {
	version, known := c.versions.Version(ref)
	if known && version == "" {
		return Object{}, &NotFoundError{Ref: ref}
	}
	c.mu.Lock()
	kept, ok := c.objects[ref]
	c.mu.Unlock()
	if ok && known && kept.Version == version {
		return kept, nil
	}
	got, err := c.read(ctx, ref)
	if apierrors.IsNotFound(err) {
		c.Forget(ref)
		return Object{}, &NotFoundError{Ref: ref}
	}
	if err != nil {
		return Object{}, err
	}
	c.mu.Lock()
	c.objects[ref] = got
	c.mu.Unlock()
	return got, nil
}

func (c *Cache) read(ctx context.Context, ref Ref) (Object, error) {
	switch ref.Kind {
	case Secret:
		s, err := c.kube.CoreV1().Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return Object{}, err
		}
		return Object{Version: s.ResourceVersion, Values: s.Data}, nil
	case ConfigMap:
		m, err := c.kube.CoreV1().ConfigMaps(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return Object{}, err
		}
		values := make(map[string][]byte, len(m.Data))
		for k, v := range m.Data {
			values[k] = []byte(v)
		}
		return Object{Version: m.ResourceVersion, Values: values}, nil
	}
	return Object{}, fmt.Errorf("kind %d is neither Secret nor ConfigMap", ref.Kind)
}

package apply

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Cache is what a view reads: the informer store of one kind.
type Cache[T metav1.Object] interface {
	Get(namespace, name string) (T, bool)
	List(namespace string, selector labels.Selector) []T
}

// View is an informer cache that also knows our own latest writes.
//
//	cache shows      | we remember      | answer
//	-----------------|------------------|---------------------------------
//	version before   | write after it   | our write
//	our version      | the write        | the cache; forgotten
//	anything else    | the write        | the cache, it is newer; forgotten
//	nothing          | a create         | our create
//	version before   | a delete         | nothing
type View[T metav1.Object] struct {
	cache Cache[T]

	mu     sync.Mutex
	writes map[types.NamespacedName]write[T]
	last   map[types.NamespacedName]string // resourceVersion of our last write
}

type write[T metav1.Object] struct {
	before  string // resourceVersion the cache had, "" when it had nothing
	object  T
	deleted bool
}

// NewView returns a view over a cache.
func NewView[T metav1.Object](cache Cache[T]) *View[T] {
	return &View[T]{cache: cache, writes: map[types.NamespacedName]write[T]{}, last: map[types.NamespacedName]string{}}
}

// Ours reports whether this version of an object is what we wrote last, so that
// an event about it tells nothing new.
func (v *View[T]) Ours(obj T) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] == obj.GetResourceVersion()
}

// Forget drops what is remembered of an object that is gone.
func (v *View[T]) Forget(namespace, name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.last, types.NamespacedName{Namespace: namespace, Name: name})
}

// Get returns the newest known version of an object.
func (v *View[T]) Get(namespace, name string) (obj T, ok bool) {
	cached, have := v.cache.Get(namespace, name)
	w, pending := v.pending(types.NamespacedName{Namespace: namespace, Name: name}, cached, have)
	if !pending {
		return cached, have
	}
	return w.object, !w.deleted
}

// List returns the newest known versions of the objects that match.
func (v *View[T]) List(namespace string, selector labels.Selector) []T {
	var out []T
	seen := map[string]bool{}
	for _, cached := range v.cache.List(namespace, selector) {
		seen[cached.GetName()] = true
		if obj, ok := v.Get(namespace, cached.GetName()); ok {
			out = append(out, obj)
		}
	}
	for _, key := range v.pendingIn(namespace) {
		if obj, ok := v.Get(namespace, key.Name); ok && !seen[key.Name] && selector.Matches(labels.Set(obj.GetLabels())) {
			out = append(out, obj)
		}
	}
	return out
}

func (v *View[T]) pendingIn(namespace string) []types.NamespacedName {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []types.NamespacedName
	for key := range v.writes {
		if key.Namespace == namespace {
			out = append(out, key)
		}
	}
	return out
}

func (v *View[T]) pending(key types.NamespacedName, cached T, have bool) (write[T], bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w, ok := v.writes[key]
	if !ok {
		return w, false
	}
	version := ""
	if have {
		version = cached.GetResourceVersion()
	}
	if version != w.before {
		delete(v.writes, key)
		return w, false
	}
	return w, true
}

// wrote remembers the server's answer to a write.
func (v *View[T]) wrote(obj T) {
	v.mu.Lock()
	v.last[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] = obj.GetResourceVersion()
	v.mu.Unlock()
	v.remember(obj.GetNamespace(), obj.GetName(), write[T]{object: obj})
}

// removed remembers a deletion.
func (v *View[T]) removed(namespace, name string) {
	v.remember(namespace, name, write[T]{deleted: true})
}

func (v *View[T]) remember(namespace, name string, w write[T]) {
	if cached, have := v.cache.Get(namespace, name); have {
		w.before = cached.GetResourceVersion()
		if !w.deleted && w.before == w.object.GetResourceVersion() {
			return // the cache was faster, or the write changed nothing
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes[types.NamespacedName{Namespace: namespace, Name: name}] = w
}

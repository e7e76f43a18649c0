package apply

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Cache is the informer store of one kind that a view reads.
type Cache[T metav1.Object] interface {
	Get(namespace, name string) (T, bool)
	List(namespace string, where informer.Where) []T
}

// partial is a cache that may lack existing objects, because it may only be able to get objects by name.
type partial[T metav1.Object] interface {
	Knows(name types.NamespacedName) bool
	Note(written T)
}

// View is an informer cache that includes our own latest writes.
//
//	cache has             | we remember | result
//	----------------------|-------------|----------------------------------
//	an older version      | a write     | our write
//	our version or later  | a write     | the cache; the write is forgotten
//	no object             | a create    | our create, for at most a minute
//	no object             | an update   | none: it was deleted since
//	the deleted version   | a delete    | none
//	a later version       | a delete    | the cache: it was recreated
//
// An object whose deletion takes a while (its pods are deleted first) is remembered as
// the deleted version with a deletion timestamp.
type View[T metav1.Object] struct {
	cache Cache[T]

	mu     sync.Mutex
	writes map[types.NamespacedName]write[T]
	last   map[types.NamespacedName]string // resourceVersion of our last write
}

// createdHolds limits how long a create is used that the cache never has: an object that
// was created and deleted while a watch was down has no event.
const createdHolds = time.Minute

type write[T metav1.Object] struct {
	object  T
	version string    // of object; for a deletion, the deleted version
	at      time.Time // when it was remembered
	created bool      // the object was not in the cache
	ends    bool      // a deletion: the version itself is outdated too
	deleted bool      // the object no longer exists
}

// newView returns a view of a cache.
func newView[T metav1.Object](cache Cache[T]) *View[T] {
	return &View[T]{cache: cache, writes: map[types.NamespacedName]write[T]{}, last: map[types.NamespacedName]string{}}
}

// Ours reports whether this version of an object is our last write, so that its event can be ignored.
func (v *View[T]) Ours(obj T) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last[catalog.KeyOf(obj)] == obj.GetResourceVersion()
}

// Since reports whether this version of an object is later than our last write. It returns false if there is no such
// write.
func (v *View[T]) Since(obj T) bool {
	v.mu.Lock()
	last, wrote := v.last[catalog.KeyOf(obj)]
	v.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), last)
	return wrote && err == nil && order > 0
}

// Forget drops the remembered writes of a deleted object. It must be called for every deletion in the cache.
func (v *View[T]) Forget(gone T) {
	key := catalog.KeyOf(gone)
	v.mu.Lock()
	defer v.mu.Unlock()
	w, ok := v.writes[key]
	if ok && !w.ends && w.object.GetUID() != gone.GetUID() {
		return // recreated meanwhile
	}
	delete(v.writes, key)
	delete(v.last, key)
}

// Get returns the newest known version of an object.
func (v *View[T]) Get(namespace, name string) (obj T, ok bool) {
	cached, have := v.cache.Get(namespace, name)
	w, pending := v.pending(types.NamespacedName{Namespace: namespace, Name: name}, cached, have)
	switch {
	case !pending:
		return cached, have
	case w.deleted:
		return obj, false
	}
	return w.object, true
}

// knows reports whether an object without an entry in the cache certainly does not exist.
func (v *View[T]) knows(namespace, name string) bool {
	some, is := v.cache.(partial[T])
	return !is || some.Knows(types.NamespacedName{Namespace: namespace, Name: name})
}

// List returns the newest known versions of the selected objects of a namespace.
func (v *View[T]) List(namespace string, where informer.Where) []T {
	var out []T
	seen := map[string]bool{}
	for _, cached := range v.cache.List(namespace, where) {
		seen[cached.GetName()] = true
		if obj, ok := v.Get(namespace, cached.GetName()); ok {
			out = append(out, obj)
		}
	}
	for _, key := range v.pendingIn(namespace) {
		if seen[key.Name] {
			continue
		}
		if obj, ok := v.Get(namespace, key.Name); ok && where.Matches(obj) {
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
	if !have {
		ok = w.created && time.Since(w.at) < createdHolds
	} else {
		ok = w.outdates(cached.GetResourceVersion())
	}
	if !ok {
		delete(v.writes, key)
	}
	return w, ok
}

// outdates reports whether the write is later than version.
func (w write[T]) outdates(version string) bool {
	if version == w.version {
		return w.ends
	}
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && order < 0
}

// wrote remembers the object that a write returned.
func (v *View[T]) wrote(obj T) {
	v.mu.Lock()
	v.last[catalog.KeyOf(obj)] = obj.GetResourceVersion()
	v.mu.Unlock()
	v.remember(obj, write[T]{object: obj})
	v.Note(obj)
}

// Note adds an object that was read without the cache to a cache that may lack it.
func (v *View[T]) Note(obj T) {
	if some, is := v.cache.(partial[T]); is {
		some.Note(obj)
	}
}

// removed remembers the deletion of before, the version in the cache.
func (v *View[T]) removed(before T) { v.remember(before, write[T]{ends: true, deleted: true}) }

// ending remembers the start of a deletion. object is the cached version with a deletion timestamp.
func (v *View[T]) ending(object T) { v.remember(object, write[T]{object: object, ends: true}) }

func (v *View[T]) remember(obj T, w write[T]) {
	key := catalog.KeyOf(obj)
	w.version, w.at = obj.GetResourceVersion(), time.Now()
	cached, have := v.cache.Get(key.Namespace, key.Name)
	if !have && w.ends {
		return // the cache was faster
	}
	w.created = !have
	v.mu.Lock()
	defer v.mu.Unlock()
	if have && !w.outdates(cached.GetResourceVersion()) {
		delete(v.writes, key) // the cache was faster, or the write was a no-op
		return
	}
	v.writes[key] = w
}

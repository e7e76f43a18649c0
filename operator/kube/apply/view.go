package apply

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Cache is what a view reads: the informer store of one kind.
type Cache[T metav1.Object] interface {
	Get(namespace, name string) (T, bool)
	List(namespace string, selector labels.Selector) []T
}

// partial is a cache that may lack objects that exist, where it may only get those whose
// names it knows.
type partial[T metav1.Object] interface {
	Knows(name types.NamespacedName) bool
	Note(written T)
}

// View is an informer cache that also knows our own latest writes.
//
//	cache shows           | we remember | answer
//	----------------------|-------------|----------------------------------
//	a version before      | a write     | our write
//	our version or later  | a write     | the cache; the write is forgotten
//	nothing               | a create    | our create, for at most a minute
//	nothing               | an update   | nothing: it was deleted since
//	the deleted version   | a delete    | nothing
//	a later version       | a delete    | the cache: it was made again
//
// An object whose deletion takes a while (its pods go first) is remembered as
// the deleted version with a deletion timestamp.
type View[T metav1.Object] struct {
	cache Cache[T]

	mu     sync.Mutex
	writes map[types.NamespacedName]write[T]
	last   map[types.NamespacedName]string // resourceVersion of our last write
}

// createdHolds bounds how long a create is believed that the cache never shows:
// an object that was created and deleted while a watch was down makes no event.
const createdHolds = time.Minute

type write[T metav1.Object] struct {
	object  T
	version string    // of object; for a deletion, the version that was deleted
	at      time.Time // when it was remembered
	created bool      // the cache had nothing
	ends    bool      // a deletion: the version itself is outdated too
	deleted bool      // there is no object any more
}

// NewView returns a view over a cache.
func NewView[T metav1.Object](cache Cache[T]) *View[T] {
	return &View[T]{cache: cache, writes: map[types.NamespacedName]write[T]{}, last: map[types.NamespacedName]string{}}
}

func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// Ours reports whether this version of an object is what we wrote last, so that
// an event about it tells nothing new.
func (v *View[T]) Ours(obj T) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last[keyOf(obj)] == obj.GetResourceVersion()
}

// Since reports whether this version of an object is later than what we wrote last;
// not when we have written nothing.
func (v *View[T]) Since(obj T) bool {
	v.mu.Lock()
	last, wrote := v.last[keyOf(obj)]
	v.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), last)
	return wrote && err == nil && order > 0
}

// Forget drops what is remembered of an object that is gone. It must be called
// for every deletion that the cache shows.
func (v *View[T]) Forget(gone T) {
	key := keyOf(gone)
	v.mu.Lock()
	defer v.mu.Unlock()
	w, ok := v.writes[key]
	if ok && !w.ends && w.object.GetUID() != gone.GetUID() {
		return // it was made again meanwhile
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

// knows reports whether an object that the view does not have does not exist.
func (v *View[T]) knows(namespace, name string) bool {
	some, is := v.cache.(partial[T])
	return !is || some.Knows(types.NamespacedName{Namespace: namespace, Name: name})
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
		if seen[key.Name] {
			continue
		}
		if obj, ok := v.Get(namespace, key.Name); ok && selector.Matches(labels.Set(obj.GetLabels())) {
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

// outdates reports whether the write came after a version of the object.
func (w write[T]) outdates(version string) bool {
	if version == w.version {
		return w.ends
	}
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && order < 0
}

// wrote remembers the server's answer to a write.
func (v *View[T]) wrote(obj T) {
	v.mu.Lock()
	v.last[keyOf(obj)] = obj.GetResourceVersion()
	v.mu.Unlock()
	v.remember(obj, write[T]{object: obj})
	if some, is := v.cache.(partial[T]); is {
		some.Note(obj)
	}
}

// removed remembers the deletion of a version that the cache showed before it.
func (v *View[T]) removed(before T) { v.remember(before, write[T]{ends: true, deleted: true}) }

// ending remembers that a deletion has begun. object is the cached version with
// a deletion timestamp.
func (v *View[T]) ending(object T) { v.remember(object, write[T]{object: object, ends: true}) }

func (v *View[T]) remember(obj T, w write[T]) {
	key := keyOf(obj)
	w.version, w.at = obj.GetResourceVersion(), time.Now()
	cached, have := v.cache.Get(key.Namespace, key.Name)
	if !have && w.ends {
		return // the cache was faster
	}
	w.created = !have
	v.mu.Lock()
	defer v.mu.Unlock()
	if have && !w.outdates(cached.GetResourceVersion()) {
		delete(v.writes, key) // the cache was faster, or the write changed nothing
		return
	}
	v.writes[key] = w
}

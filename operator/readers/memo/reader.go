package memo

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

const (
	// keepUnwatched is the lifetime of cached results without a watch.
	keepUnwatched = 5 * time.Second
	// keepWatched is the lifetime of cached results with a watch, since a broken watch may go
	// unnoticed for a while. Secrets and ConfigMaps, which cost one call each, are cached equally
	// long.
	keepWatched = 30 * time.Second
	// longestRead is the timeout of a read. A read continues when its caller is gone, for the next
	// one.
	longestRead = 30 * time.Second
	// maxWhole is the maximum number of objects of a list that are cached whole when the caller
	// keeps only a part of each.
	maxWhole = 5000
	// believeLarge is the time in which a list that exceeded maxWhole is read without checking its length
	// again.
	believeLarge = 10 * time.Minute
)

// Reader is a [readers.Reader] and [readers.Reviewer] with a cache.
type Reader struct {
	ctx     context.Context // of shared reads
	under   readers.Reader
	watches *watches
	feed    readers.Broadcaster

	mu      sync.Mutex
	version uint64 // grows when a cached result is dropped
	entries map[cacheKey]*entry
	large   map[cacheKey]time.Time // lists of more than maxWhole objects, with the time until which they are assumed large

	references      assets.Reader
	referencesUntil time.Time
}

// cacheKey is the key of a cached result.
type cacheKey struct {
	of              schema.GroupVersionResource
	namespace, name string
	list            bool
	labels          string
	limit           int
	packed          bool
	account, verb   string // of a permission check: the ServiceAccount and the verb
}

// entry is a cached result.
type entry struct {
	done chan struct{} // closed when the other fields are set
	result
	at time.Time
}

type result struct {
	objects []readers.Object
	may     bool
	err     error
}

// New returns a cache of reads from under. Reads and watches end with the context. changes may be nil: then
// nothing is watched.
func New(ctx context.Context, under readers.Reader, changes Source) *Reader {
	r := &Reader{ctx: ctx, under: under, entries: map[cacheKey]*entry{}, large: map[cacheKey]time.Time{}}
	r.watches = newWatches(ctx, changes, r.changed, r.feed.Listening)
	return r
}

// Get implements [readers.Reader].
func (r *Reader) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	got, err := r.ask(ctx, cacheKey{of: of, namespace: key.Namespace, name: key.Name}, func(ctx context.Context) result {
		object, err := r.under.Get(ctx, of, key)
		return result{objects: []readers.Object{object}, err: err}
	})
	if err != nil {
		return nil, err
	}
	return got.objects[0], nil
}

// List implements [readers.Reader].
func (r *Reader) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	whole := q
	if whole.Keep = nil; q.Keep != nil {
		if q.Limit > 0 || r.isLarge(keyOf(q)) {
			return r.under.List(ctx, q)
		}
		whole.Limit = maxWhole + 1
	}
	got, err := r.ask(ctx, keyOf(whole), func(ctx context.Context) result {
		objects, err := r.under.List(ctx, whole)
		for _, o := range objects {
			o.SetManagedFields(nil) // the largest part of many objects, and unused
		}
		return result{objects: objects, err: err}
	})
	switch {
	case err != nil || q.Keep == nil:
		return got.objects, err
	case len(got.objects) > maxWhole:
		r.setLarge(keyOf(q), keyOf(whole))
		return r.under.List(ctx, q)
	}
	var out []readers.Object
	for _, o := range got.objects {
		if kept := q.Keep(o.DeepCopyObject().(readers.Object)); kept != nil {
			out = append(out, kept)
		}
	}
	return out, nil
}

func keyOf(q readers.Query) cacheKey {
	return cacheKey{of: q.GroupVersionResource, namespace: q.Namespace, name: q.Name, list: true, labels: q.Labels, limit: q.Limit, packed: q.Packed}
}

// References implements [readers.Reader].
func (r *Reader) References(context.Context) assets.Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	if r.references == nil {
		r.references, r.referencesUntil = r.under.References(r.ctx), time.Now().Add(keepWatched)
	}
	return r.references
}

// May implements [readers.Reviewer].
func (r *Reader) May(ctx context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	reviewer, can := r.under.(readers.Reviewer)
	if !can {
		return false, errors.New("permissions of ServiceAccounts cannot be read here")
	}
	got, err := r.ask(ctx, cacheKey{of: of.WithVersion(""), namespace: namespace, account: account.String(), verb: verb}, func(ctx context.Context) result {
		may, err := reviewer.May(ctx, account, verb, of, namespace)
		return result{may: may, err: err}
	})
	return got.may, err
}

// ask returns the cached result or reads it. Concurrent calls share one read.
func (r *Reader) ask(ctx context.Context, q cacheKey, read func(context.Context) result) (result, error) {
	if q.list {
		r.watches.want(q)
	}
	r.mu.Lock()
	r.prune()
	a := r.entries[q]
	if a == nil {
		a = &entry{done: make(chan struct{})}
		r.entries[q] = a
		go r.fill(q, a, read)
	}
	r.mu.Unlock()
	select {
	case <-a.done:
		return a.result, a.err
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
}

// fill executes a read. Not found and forbidden are cached, other errors are not.
func (r *Reader) fill(q cacheKey, a *entry, read func(context.Context) result) {
	ctx, cancel := context.WithTimeout(r.ctx, longestRead)
	defer cancel()
	got := read(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	a.result, a.at = got, time.Now()
	if a.err != nil && !apierrors.IsNotFound(a.err) && !apierrors.IsForbidden(a.err) && r.entries[q] == a {
		r.drop(q)
	}
	close(a.done)
}

// prune drops expired results.
func (r *Reader) prune() {
	for q, a := range r.entries {
		if !r.fresh(q, a) {
			r.drop(q)
		}
	}
	if r.references != nil && time.Now().After(r.referencesUntil) {
		r.references = nil
		r.version++
	}
}

// fresh reports whether a result is current or in flight. Errors expire soon even if the resource
// is watched, since no watch reports new permissions.
func (r *Reader) fresh(q cacheKey, a *entry) bool {
	select {
	case <-a.done:
	default:
		return true
	}
	keep := keepUnwatched
	if a.err == nil && r.watches.covers(q) {
		keep = keepWatched
	}
	return time.Since(a.at) < keep
}

func (r *Reader) drop(q cacheKey) {
	delete(r.entries, q)
	r.version++
}

// changed invalidates the results that an object affects, or all of a scope if o is nil, and then
// notifies listeners of the change.
func (r *Reader) changed(s scope, o metav1.Object) {
	namespace := s.namespace
	if o != nil {
		namespace = o.GetNamespace()
	}
	r.invalidate(s.of, namespace)
	if o == nil {
		return
	}
	if c, ok := news(s.of, o); ok {
		r.feed.Send(c)
	}
}

// invalidate invalidates the results of a resource in a namespace, "" for all.
func (r *Reader) invalidate(of schema.GroupVersionResource, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for q := range r.entries {
		if q.account == "" && q.of == of && (namespace == "" || q.namespace == "" || q.namespace == namespace) {
			r.drop(q)
		}
	}
}

func (r *Reader) isLarge(q cacheKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.large[q])
}

func (r *Reader) setLarge(q, whole cacheKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.large[q] = time.Now().Add(believeLarge)
	r.drop(whole)
}

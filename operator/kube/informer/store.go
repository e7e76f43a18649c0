package informer

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// resync is the period at which handlers receive all objects again; unchanged ones are ignored.
	resync = 5 * time.Minute
	// syncTimeout limits the first list of one kind.
	syncTimeout = 10 * time.Minute
)

// Object is the type constraint of stored objects.
type Object = interface {
	metav1.Object
	runtime.Object
}

// Watch configures which objects a store watches.
type Watch struct {
	Namespaces    Namespaces
	LabelSelector string
	FieldSelector string
	// Calls counts lists and watches; nil: disabled.
	Calls *Calls
	// Reads logs failing lists and watches; nil: disabled.
	Reads *Reads
	// Poll configures polling without permission to watch; nil: the store waits for permission.
	Poll *Poll
	// Bounds limits what the store caches; nil: no limit. It cannot be combined with Poll.
	Bounds *Bounds
	Index  Index
}

// Store caches the objects of one kind in the watched namespaces and keeps them current with
// informers. The objects that it returns are shared: callers must not modify them.
type Store[T Object] struct {
	name      string
	scope     Namespaces
	index     Index
	filtered  bool
	informers []cache.SharedIndexInformer
	reads     []*read   // one per informer
	pollers   []*poller // one per informer; nil: permission to watch is required
	bounded   []*bounded
	order     order[T]
	started   sync.Once
}

// NewStore returns a store of typed objects; keep (optional) trims an object before it is cached.
func NewStore[T Object](client cache.Getter, resource string, example T, w Watch, keep func(T) T) *Store[T] {
	s := newStore[T](resource, w)
	get := func(ctx context.Context, name types.NamespacedName) (Object, error) {
		out := example.DeepCopyObject().(Object)
		err := client.Get().NamespaceIfScoped(name.Namespace, name.Namespace != "").Resource(resource).Name(name.Name).Do(ctx).Into(out)
		return out, err
	}
	in := func(ns string) *cache.ListWatch {
		lw := cache.NewFilteredListWatchFromClient(client, resource, ns, w.tweak)
		lw.ListWithContextFunc = listTrimmed(client, resource, ns, w.tweak, trimmer(keep))
		lw.WatchFuncWithContext = Timely(lw.WatchFuncWithContext)
		return lw
	}
	s.addAll(w, source[T]{in, get, example, keep})
	return s
}

// NewMetadataStore returns a store that only holds the identity and version of each object, which
// is sufficient to notice changes.
func NewMetadataStore(client metadata.Interface, gvr schema.GroupVersionResource, w Watch) *Store[*metav1.PartialObjectMetadata] {
	s := newStore[*metav1.PartialObjectMetadata](gvr.Resource, w)
	in := func(ns string) *cache.ListWatch {
		return &cache.ListWatch{
			ListWithContextFunc: listMetadata(client.Resource(gvr).Namespace(ns), w.tweak, trimmer(identityOnly)),
			WatchFuncWithContext: Timely(func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				w.tweak(&o)
				return client.Resource(gvr).Namespace(ns).Watch(ctx, o)
			}),
		}
	}
	get := func(ctx context.Context, name types.NamespacedName) (Object, error) {
		return client.Resource(gvr).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	}
	s.addAll(w, source[*metav1.PartialObjectMetadata]{in, get, &metav1.PartialObjectMetadata{}, identityOnly})
	return s
}

// getter reads one object.
type getter func(ctx context.Context, name types.NamespacedName) (Object, error)

// source is the API from which a store gets its objects.
type source[T Object] struct {
	in      func(namespace string) *cache.ListWatch
	get     getter // used with a Poll
	example T
	keep    func(T) T // trims an object; may be nil
}

// addAll adds the informers of all namespaces of a watch.
func (s *Store[T]) addAll(w Watch, from source[T]) {
	for _, namespace := range w.Namespaces.Watches() {
		s.add(w, namespace, from)
	}
}

// add adds the informer of one or all namespaces.
func (s *Store[T]) add(w Watch, namespace string, from source[T]) {
	var inf cache.SharedIndexInformer
	api, trim := from.in(namespace), trimmer(from.keep)
	reading := w.Reads.add(s.name, namespace, func() bool { return inf.HasSynced() })
	if w.Bounds != nil {
		b := newBounded(w, namespace, api, from.example, trim)
		s.bounded, api = append(s.bounded, b), b.listWatch()
	}
	var lw cache.ListerWatcher = Persistent(w.observed(api, reading))
	var p *poller
	if w.Poll != nil {
		p = &poller{Poll: *w.Poll, api: api, part: from.in, get: from.get, trim: trim, namespace: namespace, log: reading.logger()}
		p.result = func(err error) { w.Calls.listed(err); reading.result("list", err) }
		p.stored = func(name types.NamespacedName) Object {
			got, _, _ := inf.GetStore().GetByKey(cache.NewObjectName(name.Namespace, name.Name).String()) // returns no errors
			obj, _ := got.(Object)
			return obj
		}
		polled := Persistent(w.observed(p.listWatch(), reading))
		if lw = polled; !p.Parts {
			lw = noWatchList{polled}
		}
	}
	inf = cache.NewSharedIndexInformer(lw, from.example, resync, w.Index.indexers())
	// Both only return errors for a started informer.
	if err := inf.SetTransform(trim); err != nil {
		panic(err)
	}
	if err := inf.SetWatchErrorHandlerWithContext(quietly); err != nil {
		panic(err)
	}
	s.informers, s.reads, s.pollers = append(s.informers, inf), append(s.reads, reading), append(s.pollers, p)
}

// quietly replaces the error logs of the reflector, because [Reads] already logs each failing read once.
func quietly(ctx context.Context, _ *cache.Reflector, err error) {
	klog.FromContext(ctx).V(1).Info("list or watch ended", "err", err)
}

func newStore[T Object](name string, w Watch) *Store[T] {
	return &Store[T]{name: name, scope: w.Namespaces, index: w.Index, filtered: w.LabelSelector != "" || w.FieldSelector != ""}
}

func (w Watch) tweak(o *metav1.ListOptions) {
	o.LabelSelector = w.LabelSelector
	o.FieldSelector = w.Namespaces.FieldSelector(w.FieldSelector)
}

// observed returns a list-watcher whose calls are counted and whose results are recorded.
func (w Watch) observed(lw *cache.ListWatch, reading *read) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := lw.ListWithContext(ctx, o)
			w.Calls.listed(err)
			reading.result("list", err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := lw.WatchWithContext(ctx, o)
			w.Calls.watched(err)
			reading.result("watch", err)
			return events, err
		},
	}
}

func identityOnly(o *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion,
	}}
}

// trimmer returns a function that drops unused data from objects before they are cached.
func trimmer[T Object](keep func(T) T) cache.TransformFunc {
	return func(raw any) (any, error) {
		obj, ok := raw.(T)
		if !ok {
			return raw, nil // a tombstone
		}
		if obj.GetManagedFields() != nil { // checked first, because cached objects must not be written
			obj.SetManagedFields(nil)
		}
		if a := obj.GetAnnotations(); a[lastApplied] != "" {
			delete(a, lastApplied)
		}
		if keep != nil {
			obj = keep(obj)
		}
		return obj, nil
	}
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Name returns the resource name for messages.
func (s *Store[T]) Name() string { return s.name }

// Complete reports whether an object of the namespace that is not in the store does not exist (no
// selector narrows the watch, and the namespace is in scope). It must not be called on a store
// with a Poll.
func (s *Store[T]) Complete(namespace string) bool { return !s.filtered && s.scope.Has(namespace) }

// Covers reports whether objects of a namespace are watched.
func (s *Store[T]) Covers(namespace string) bool { return s.scope.Has(namespace) }

// Get returns an object.
func (s *Store[T]) Get(namespace, name string) (obj T, ok bool) {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	for _, inf := range s.informers {
		raw, exists, err := inf.GetIndexer().GetByKey(key)
		if err == nil && exists {
			return raw.(T), true
		}
	}
	return obj, false
}

// List returns the selected objects of a namespace in no particular order.
func (s *Store[T]) List(namespace string, where Where) []T {
	index, key := cache.NamespaceIndex, namespace
	if s.index.has(where) {
		index, key = whereIndex, where.key(namespace)
	}
	var out []T
	for _, inf := range s.informers {
		raws, err := inf.GetIndexer().ByIndex(index, key)
		if err != nil {
			panic(err) // all informers have the indexes
		}
		for _, raw := range raws {
			if obj := raw.(T); where.Matches(obj) {
				out = append(out, obj)
			}
		}
	}
	return out
}

// All iterates over all objects in no particular order.
func (s *Store[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, inf := range s.informers {
			for _, raw := range inf.GetIndexer().List() {
				if !yield(raw.(T)) {
					return
				}
			}
		}
	}
}

// Sorted iterates over all objects by "namespace/name" in byte order. They are at least as recent as the handled
// events. There are no objects before [Store.OnChange].
func (s *Store[T]) Sorted() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, obj := range s.order.list() {
			if !yield(obj) {
				return
			}
		}
	}
}

// Version identifies the content of [Store.Sorted]: while it is the same, so are the objects.
func (s *Store[T]) Version() uint64 {
	s.order.mu.Lock()
	defer s.order.mu.Unlock()
	return s.order.version
}

// SortedSince returns the objects of [Store.Sorted], which callers must not modify, and the changes of the list since
// an earlier call that returned seq as now. ok is false if they are unknown.
func (s *Store[T]) SortedSince(seq uint64) (objects []T, now uint64, changed []Edit, ok bool) {
	return s.order.since(seq)
}

// SortedIn is like [Store.Sorted] for the objects in a namespace.
func (s *Store[T]) SortedIn(namespace string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, obj := range s.order.in(namespace) {
			if !yield(obj) {
				return
			}
		}
	}
}

// Run starts the informers, which stop with the context, and returns. Further calls are no-ops.
func (s *Store[T]) Run(ctx context.Context) {
	// A reflector logs each watch that breaks, which may be many each second, and [Reads] logs those that fail for a while.
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).V(1))
	s.started.Do(func() {
		for i, inf := range s.informers {
			s.reads[i].start()
			go inf.RunWithContext(ctx)
		}
		for _, b := range s.bounded {
			go b.in.Run(ctx)
		}
	})
}

// Wait blocks until the first list is complete.
//
// Errors: the context ended; the list took longer than ten minutes.
func (s *Store[T]) Wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for _, inf := range s.informers {
		select {
		case <-inf.HasSyncedChecker().Done():
		case <-ctx.Done():
			return fmt.Errorf("list %s: %w", s.name, context.Cause(ctx))
		}
	}
	return nil
}

// Syncer is a store of any type, which allows starting many at once.
type Syncer interface {
	Name() string
	Run(ctx context.Context)
	Wait(ctx context.Context) error
}

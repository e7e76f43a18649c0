package watch

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// filter restricts a shared informer to the objects that selectors select, for one builder, to which it passes them
// unpacked. Its handlers can be removed, in contrast to those of builders.
type filter struct {
	cache.SharedIndexInformer
	matches  func(discovery.Object) bool // nil: all
	handlers []cache.ResourceEventHandler
	handles  []cache.ResourceEventHandlerRegistration

	recent discovery.Recent

	mu      sync.Mutex
	foreign map[string]discovery.Object // by key: objects that refer to pods of other namespaces, now or previously
}

// AddEventHandler implements cache.SharedIndexInformer.
func (f *filter) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	f.handlers = append(f.handlers, h)
	if f.matches != nil {
		h = cache.FilteringResourceEventHandler{FilterFunc: f.selects, Handler: h}
	}
	handle, err := f.SharedIndexInformer.AddEventHandler(unpackingHandler{h})
	if err == nil {
		f.handles = append(f.handles, handle)
	}
	return handle, err
}

// unpackingHandler passes events on with objects that are not packed.
type unpackingHandler struct{ cache.ResourceEventHandler }

func (u unpackingHandler) OnAdd(object any, isInInitialList bool) {
	u.ResourceEventHandler.OnAdd(discovery.Unpack(object), isInInitialList)
}

func (u unpackingHandler) OnUpdate(before, after any) {
	u.ResourceEventHandler.OnUpdate(discovery.Unpack(before), discovery.Unpack(after))
}

func (u unpackingHandler) OnDelete(object any) {
	u.ResourceEventHandler.OnDelete(discovery.Unpack(object))
}

// remove removes the handlers.
func (f *filter) remove() {
	for _, h := range f.handles {
		_ = f.RemoveEventHandler(h) // only fails for handles of other informers
	}
}

// selects reports whether the selectors select an object of an event or the store.
func (f *filter) selects(object any) bool {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	o, ok := object.(discovery.Object)
	return ok && (f.matches == nil || f.matches(o))
}

// GetStore implements cache.SharedIndexInformer.
func (f *filter) GetStore() cache.Store { return f.GetIndexer() }

// GetIndexer implements cache.SharedIndexInformer.
func (f *filter) GetIndexer() cache.Indexer {
	return filteredIndexer{f.SharedIndexInformer.GetIndexer(), f}
}

// note records an object that the builder reads if it, or a previous version of it, refers to pods
// of other namespaces.
func (f *filter) note(key string, object discovery.Object) {
	foreign := discovery.Foreign(object)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, before := f.foreign[key]; !before && !foreign {
		return
	}
	if f.foreign == nil {
		f.foreign = map[string]discovery.Object{}
	}
	f.foreign[key] = object
}

// readForeign returns the object of a key if it refers to pods of other namespaces, now or
// previously, because the next group may be built from an earlier version. gone means that the
// object was deleted.
func (f *filter) readForeign(key string, gone bool) discovery.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	object := f.foreign[key]
	if gone {
		delete(f.foreign, key)
	}
	return object
}

// filteredIndexer filters the methods of an indexer that builders use.
type filteredIndexer struct {
	cache.Indexer
	filter *filter
}

// GetByKey implements cache.Store.
func (i filteredIndexer) GetByKey(key string) (any, bool, error) {
	object, exists, err := i.Indexer.GetByKey(key)
	object = i.filter.recent.Unpack(object)
	if exists && !i.filter.selects(object) {
		object, exists = nil, false
	}
	if o, ok := object.(discovery.Object); ok {
		i.filter.note(key, o)
	}
	return object, exists, err
}

// ByIndex implements cache.Indexer.
func (i filteredIndexer) ByIndex(name, value string) ([]any, error) {
	objects, err := i.Indexer.ByIndex(name, value)
	out := objects[:0:0]
	for _, o := range objects {
		if o = discovery.Unpack(o); i.filter.selects(o) {
			out = append(out, o)
		}
	}
	return out, err
}

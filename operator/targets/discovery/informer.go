package discovery

import "k8s.io/client-go/tools/cache"

// informer is a set of immutable objects in the form that builders require. It is synced from the
// start and implements only the methods that builders call.
type informer struct {
	cache.SharedIndexInformer // nil: other methods are not called
	store                     cache.Indexer
	handler                   cache.ResourceEventHandler
	recent                    Recent
}

func newInformer(objects []Object) (*informer, error) {
	// Without indices: builders use them only when metadata objects change.
	out := &informer{store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)}
	for _, object := range objects {
		if err := out.store.Add(object); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AddEventHandler implements cache.SharedIndexInformer. The first handler is the builder's.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	if i.handler == nil {
		i.handler = h
	}
	return nil, nil
}

// GetStore implements cache.SharedIndexInformer.
func (i *informer) GetStore() cache.Store { return i.GetIndexer() }

// GetIndexer implements cache.SharedIndexInformer.
func (i *informer) GetIndexer() cache.Indexer { return unpackingIndexer{i.store, &i.recent} }

// unpackingIndexer is an indexer whose pods may be packed.
type unpackingIndexer struct {
	cache.Indexer
	recent *Recent
}

// GetByKey implements cache.Store. Builders read single objects with it.
func (u unpackingIndexer) GetByKey(key string) (any, bool, error) {
	object, exists, err := u.Indexer.GetByKey(key)
	return u.recent.Unpack(object), exists, err
}

// HasSynced implements cache.SharedIndexInformer.
func (i *informer) HasSynced() bool { return true }

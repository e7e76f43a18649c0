package discovery

import "k8s.io/client-go/tools/cache"

// informer is objects that do not change, in the form that builders take: synced from the
// beginning. It has what they use of an informer and nothing else.
type informer struct {
	cache.SharedIndexInformer // nil: what is not below is not used
	store                     cache.Indexer
	handler                   cache.ResourceEventHandler
}

func newInformer(objects []Object) (*informer, error) {
	// Without indices: builders look into them when objects of metadata change.
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
func (i *informer) GetStore() cache.Store { return i.store }

// GetIndexer implements cache.SharedIndexInformer.
func (i *informer) GetIndexer() cache.Indexer { return i.store }

// HasSynced implements cache.SharedIndexInformer.
func (i *informer) HasSynced() bool { return true }

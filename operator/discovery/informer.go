package discovery

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// informer is objects that do not change, in the form that builders take: synced from the
// beginning. It has what they use of an informer and nothing else.
type informer struct {
	cache.SharedIndexInformer // nil: what is not below is not used
	store                     cache.Indexer
	handler                   cache.ResourceEventHandler
}

// serviceOfSlices is the index that the builder of EndpointSlices looks into.
const serviceOfSlices = "service"

func newInformer(objects []Object) (*informer, error) {
	out := &informer{store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		serviceOfSlices: func(o any) ([]string, error) {
			if slice, ok := o.(*discoveryv1.EndpointSlice); ok {
				return []string{slice.Namespace + "/" + slice.Labels[discoveryv1.LabelServiceName]}, nil
			}
			return nil, nil
		},
	})}
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

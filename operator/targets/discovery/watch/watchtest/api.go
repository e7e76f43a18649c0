// Package watchtest provides an in-memory API server for tests of discovery watches in bubbles of
// testing/synctest: it lists and watches, denies and delays.
package watchtest

import (
	"context"
	"maps"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// API is an API server. It has the same objects in each requested namespace: tests use calls to
// tell namespaces apart.
type API struct {
	mu     sync.Mutex
	kinds  map[string]*cachetesting.FakeControllerSource // by resource
	denied map[string]bool
	slow   map[string]chan struct{}
	calls  map[string]int
}

// New returns an API server without objects that runs until the end of the test.
func New(t testing.TB) *API {
	a := &API{kinds: map[string]*cachetesting.FakeControllerSource{}, denied: map[string]bool{}, slow: map[string]chan struct{}{}, calls: map[string]int{}}
	t.Cleanup(func() {
		for _, kind := range a.kinds {
			kind.Broadcaster.Shutdown() // Shutdown would block those that are not closed yet forever
		}
	})
	return a
}

// Kind returns the objects of a resource.
func (a *API) Kind(resource string) *cachetesting.FakeControllerSource {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kinds[resource] == nil {
		a.kinds[resource] = cachetesting.NewFakeControllerSource()
	}
	return a.kinds[resource]
}

// Deny rejects calls for "RESOURCE" or "NAMESPACE/RESOURCE".
func (a *API) Deny(what string, denied bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied[what] = denied
}

// Delay blocks lists of a resource until the channel is closed.
func (a *API) Delay(resource string, until chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slow[resource] = until
}

// Calls returns the number of lists and watches, by "NAMESPACE/RESOURCE".
func (a *API) Calls() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.calls)
}

func (a *API) call(resource schema.GroupResource, namespace string) (wait chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	place := namespace + "/" + resource.Resource
	a.calls[place]++
	if a.denied[resource.Resource] || a.denied[place] {
		return nil, apierrors.NewForbidden(resource, "", nil)
	}
	return a.slow[resource.Resource], nil
}

// Lists implements watch.Lists.
func (a *API) Lists(kind discovery.Kind, namespace string) *cache.ListWatch {
	resource := kind.Resource.GroupResource()
	source := a.Kind(resource.Resource)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			wait, err := a.call(resource, namespace)
			if err != nil {
				return nil, err
			}
			if wait != nil {
				select {
				case <-wait:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return source.List(o)
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil) // like servers without streaming lists
			}
			if _, err := a.call(resource, namespace); err != nil {
				return nil, err
			}
			return source.Watch(o)
		},
	}
}

package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Lists returns the functions to list and watch objects of a kind in a namespace; "" for all.
type Lists func(kind discovery.Kind, namespace string) *cache.ListWatch

// From returns Lists that use a client, and for pods one of their own, whose watches return packed pods. cfg must accept
// protobuf.
//
// Errors: an invalid configuration.
func From(kube kubernetes.Interface, cfg *rest.Config) (Lists, error) {
	pods, err := client.NewEvents(cfg, discovery.PackMessage)
	if err != nil {
		return nil, fmt.Errorf("client for pods: %w", err)
	}
	return func(kind discovery.Kind, namespace string) *cache.ListWatch {
		var from rest.Interface
		switch kind.Resource.GroupResource() {
		case corev1.Resource("pods"):
			from = pods
		case discoveryv1.Resource("endpointslices"):
			from = kube.DiscoveryV1().RESTClient()
		case networkingv1.Resource("ingresses"):
			from = kube.NetworkingV1().RESTClient()
		default:
			from = kube.CoreV1().RESTClient()
		}
		return cache.NewListWatchFromClient(from, kind.Resource.Resource, namespace, fields.Everything())
	}, nil
}

// place is a kind of object in a namespace; "" for all.
type place struct {
	kind      discovery.Kind
	namespace string
	older     string // key of the changes that the objects lack
}

// String returns a human-readable form: "pods in namespace demo".
func (p place) String() string {
	resource := p.kind.Resource.GroupResource().String()
	switch {
	case p.kind.ClusterScoped:
		return resource
	case p.namespace == "":
		return resource + " in all namespaces"
	}
	return resource + " in namespace " + p.namespace
}

// source is the informer of one place, shared by views.
type source struct {
	place
	informer cache.SharedIndexInformer
	users    int // guarded by the mutex of the Cluster
	stop     context.CancelFunc
	done     chan struct{}

	mu       sync.Mutex
	failed   map[string]error // by verb, until it succeeds again
	relisted time.Time        // of the last list after the first
}

// newSource starts an informer.
func newSource(p place, older discovery.Older, api *cache.ListWatch) *source {
	s := &source{place: p, done: make(chan struct{}), failed: map[string]error{}}
	// The type of objects is not checked: pods are packed or not.
	s.informer = cache.NewSharedIndexInformer(informer.Persistent(s.observed(api)), nil, 0, discovery.Indexers(p.kind.Role))
	_ = s.informer.SetTransform(func(object any) (any, error) { return discovery.Pack(object, older), nil })               // only fails for started informers
	_ = s.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { s.lost(err) }) // the same
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		defer close(s.done)
		s.informer.RunWithContext(ctx)
	}()
	return s
}

// observed records the results of calls to the API server.
func (s *source) observed(api *cache.ListWatch) *cache.ListWatch {
	start := informer.Timely(api.WatchWithContext)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			s.listing()
			out, err := api.ListWithContext(ctx, o)
			s.result("list", err)
			return out, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil && *o.SendInitialEvents { // a list in the form of a watch
				s.listing()
			}
			out, err := start(ctx, o)
			s.result("watch", err)
			return out, err
		},
	}
}

// listing records a list. Objects that are missing in it were deleted without an event, or the API server returned an
// incomplete list.
func (s *source) listing() {
	if !s.informer.HasSynced() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relisted = time.Now()
}

func (s *source) result(verb string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		delete(s.failed, verb)
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), apierrors.IsInvalid(err):
		// The informer retries in another way.
	default:
		s.failed[verb] = err
	}
}

// lost records a permission error of a watch.
func (s *source) lost(err error) {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		s.result("watch", err)
	}
}

// failing reports whether the first list has failed, so that waiting for it is useless.
func (s *source) failing() bool {
	_, message := s.failure()
	return message != "" && !s.informer.HasSynced()
}

// failure returns why objects are not current; "" if they are, or if no read has failed.
func (s *source) failure() (forbidden bool, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, verb := range []string{"list", "watch"} {
		switch err := s.failed[verb]; {
		case err == nil:
		case apierrors.IsForbidden(err):
			return true, fmt.Sprintf("no permission to %s %s", verb, s.place)
		default:
			message = fmt.Sprintf("%s %s: %v", verb, s.place, err)
		}
	}
	return false, message
}

//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package apply

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Endpoints writes a Service without selector and its addresses. Objects are complete: one
// with a resourceVersion replaces that version, one without is created.
//
// Errors of all methods: those of the API server; Conflict, AlreadyExists or NotFound if the
// caller does not have the latest version.
type Endpoints struct {
	kube      kubernetes.Interface
	namespace string
}

// NewEndpoints returns a writer for the objects of a namespace.
func NewEndpoints(kube kubernetes.Interface, namespace string) *Endpoints {
	return &Endpoints{kube, namespace}
}

// Service creates or replaces the Service and returns the object in the API server.
func (e *Endpoints) Service(ctx context.Context, o *corev1.Service) (*corev1.Service, error) {
	return put(ctx, "Service", e.kube.CoreV1().Services(e.namespace), o)
}

// Endpoints creates or replaces the Endpoints.
func (e *Endpoints) Endpoints(ctx context.Context, o *corev1.Endpoints) (*corev1.Endpoints, error) {
	return put(ctx, "Endpoints", e.kube.CoreV1().Endpoints(e.namespace), o)
}

// DeleteEndpoints deletes this version of Endpoints. It is a no-op if they do not exist.
func (e *Endpoints) DeleteEndpoints(ctx context.Context, o *corev1.Endpoints) error {
	return deleteVersion(ctx, "Endpoints", e.kube.CoreV1().Endpoints(e.namespace), o)
}

// Slice creates or replaces an EndpointSlice.
func (e *Endpoints) Slice(ctx context.Context, o *discoveryv1.EndpointSlice) (*discoveryv1.EndpointSlice, error) {
	return put(ctx, "EndpointSlice", e.kube.DiscoveryV1().EndpointSlices(e.namespace), o)
}

// DeleteSlice deletes this version of an EndpointSlice. It is a no-op if it does not exist.
func (e *Endpoints) DeleteSlice(ctx context.Context, o *discoveryv1.EndpointSlice) error {
	return deleteVersion(ctx, "EndpointSlice", e.kube.DiscoveryV1().EndpointSlices(e.namespace), o)
}

func put[T metav1.Object](ctx context.Context, kind string, api endpoint[T], o T) (T, error) {
	var (
		got  T
		err  error
		verb = "create"
	)
	if o.GetResourceVersion() == "" {
		got, err = api.Create(ctx, o, metav1.CreateOptions{FieldManager: FieldManager})
	} else {
		verb = "update"
		got, err = api.Update(ctx, o, metav1.UpdateOptions{FieldManager: FieldManager})
	}
	if err != nil {
		return got, fmt.Errorf("%s %s %q: %w", verb, kind, cmp.Or(o.GetName(), o.GetGenerateName()), err)
	}
	return got, nil
}

func deleteVersion[T metav1.Object](ctx context.Context, kind string, api endpoint[T], o T) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	err := api.Delete(ctx, o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %q: %w", kind, o.GetName(), err)
	}
	return nil
}

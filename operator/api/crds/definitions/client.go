// Package definitions is a client of CustomResourceDefinitions. It has the two requests that
// installation and webhook certificates need; a whole clientset would link two more versions of
// the types and their apply configurations.
package definitions

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Interface reads and patches CustomResourceDefinitions. Its methods are those of the typed client
// of Kubernetes, whose fake can replace it in tests.
//
// Errors: those of the API server.
type Interface interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error)
	Patch(ctx context.Context, name string, kind types.PatchType, body []byte, o metav1.PatchOptions, subresources ...string) (*apiextensionsv1.CustomResourceDefinition, error)
}

const resource = "customresourcedefinitions"

// New returns a client of the API server.
func New(cfg *rest.Config) (Interface, error) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("scheme of CRDs: %w", err)
	}
	c := rest.CopyConfig(cfg)
	c.APIPath, c.GroupVersion = "/apis", &apiextensionsv1.SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	out, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client for CRDs: %w", err)
	}
	return client{out, runtime.NewParameterCodec(scheme)}, nil
}

type client struct {
	rest   rest.Interface
	params runtime.ParameterCodec
}

// Get implements Interface.
func (c client) Get(ctx context.Context, name string, o metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error) {
	return answer(ctx, c.rest.Get().Resource(resource).Name(name).VersionedParams(&o, c.params))
}

// Patch implements Interface.
func (c client) Patch(ctx context.Context, name string, kind types.PatchType, body []byte, o metav1.PatchOptions, subresources ...string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return answer(ctx, c.rest.Patch(kind).Resource(resource).Name(name).SubResource(subresources...).VersionedParams(&o, c.params).Body(body))
}

func answer(ctx context.Context, r *rest.Request) (*apiextensionsv1.CustomResourceDefinition, error) {
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.Do(ctx).Into(out); err != nil {
		return nil, err
	}
	return out, nil
}

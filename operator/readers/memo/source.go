package memo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// Source reports changes of objects.
type Source interface {
	// Now returns the current resourceVersion of a resource in a namespace, "" for all.
	//
	// Errors: those of the API server.
	Now(ctx context.Context, of schema.GroupVersionResource, namespace string) (string, error)
	// Watch watches objects, each of which is a [metav1.Object].
	//
	// Errors: those of the API server.
	Watch(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error)
}

// Metadata returns a [Source] that watches only the metadata of objects.
func Metadata(client metadata.Interface) Source { return source{client} }

type source struct{ metadata.Interface }

// Now implements [Source].
func (s source) Now(ctx context.Context, of schema.GroupVersionResource, namespace string) (string, error) {
	list, err := s.Resource(of).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.ResourceVersion, nil
}

// Watch implements [Source].
func (s source) Watch(ctx context.Context, of schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	return s.Resource(of).Namespace(namespace).Watch(ctx, options)
}

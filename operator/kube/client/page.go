package client

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// Page lists objects of a namespace, "" for all, in a response of at most most bytes, and
// returns its size. A larger response is never read completely.
//
// Errors: [capacity.ErrTooLong]; those of the API server.
func (c *Client) Page(ctx context.Context, resource, namespace string, o metav1.ListOptions, most int64) (list runtime.Object, bytes int64, err error) {
	body, err := c.rest.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, metav1.ParameterCodec).
		SetHeader("Accept", runtime.ContentTypeJSON).Stream(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer body.Close()
	text, err := capacity.ReadAtMost(body, most)
	if err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", resource, err)
	}
	list, err = runtime.Decode(c.decoder, text)
	if err != nil {
		return nil, 0, fmt.Errorf("list %s: %w", resource, err)
	}
	return list, int64(len(text)), nil
}

// Read reads one object. It uses list, which every account that can watch the kind may do.
//
// Errors: apierrors.IsNotFound if it does not exist; those of the API server.
func (c *Client) Read(ctx context.Context, resource string, name types.NamespacedName) (runtime.Object, error) {
	o := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name.Name).String()}
	list, _, err := c.Page(ctx, resource, name.Namespace, o, mostOne)
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("read %s %q: %w", resource, name.Name, err)
	}
	if len(items) == 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: c.version.Group, Resource: resource}, name.Name)
	}
	return items[0], nil
}

// mostOne is an upper bound for the size of an object in the API server.
const mostOne = 16 << 20

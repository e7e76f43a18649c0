// Package client reads the kinds of monitoring.coreos.com. It has one REST [Client] for
// each version of the group, with a faster decoder for lists and watches than the
// default. New kinds need no code here.
package client

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// Client is a client of one version of the API group.
type Client struct {
	rest    rest.Interface
	version schema.GroupVersion
	decoder runtime.Decoder // for JSON responses
}

// New returns a client for a version whose types are registered in scheme.
func New(cfg *rest.Config, scheme *runtime.Scheme, version schema.GroupVersion) (*Client, error) {
	return newClient(cfg, scheme, version, false)
}

// NewPacking is like [New], but objects that workloads select have packed specs: [manifest.Whole] returns the whole
// object. It is for caches of many objects.
func NewPacking(cfg *rest.Config, scheme *runtime.Scheme, version schema.GroupVersion) (*Client, error) {
	return newClient(cfg, scheme, version, true)
}

func newClient(cfg *rest.Config, scheme *runtime.Scheme, version schema.GroupVersion, packs bool) (*Client, error) {
	c := rest.CopyConfig(cfg)
	c.GroupVersion = &version
	c.APIPath = "/apis"
	c.ContentType = runtime.ContentTypeJSON
	serializers := quick{serializer.NewCodecFactory(scheme).WithoutConversion(), scheme, packs}
	c.NegotiatedSerializer = serializers
	r, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", version, err)
	}
	info, ok := runtime.SerializerInfoForMediaType(serializers.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return nil, fmt.Errorf("client for %s: no decoder of %s", version, runtime.ContentTypeJSON)
	}
	return &Client{rest: r, version: version, decoder: serializers.DecoderToVersion(info.Serializer, version)}, nil
}

// REST returns the REST client for list-watchers.
func (c *Client) REST() rest.Interface { return c.rest }

// Exists reports whether an object exists in the API server. It uses list, which every
// account that can watch the kind may do.
func (c *Client) Exists(ctx context.Context, resource, namespace, name string) (bool, error) {
	text, err := c.rest.Get().Namespace(namespace).Resource(resource).
		Param("fieldSelector", fields.OneTermEqualSelector("metadata.name", name).String()).Do(ctx).Raw()
	if err != nil {
		return false, fmt.Errorf("look for %s %q: %w", resource, name, err)
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return false, fmt.Errorf("look for %s %q: %w", resource, name, err)
	}
	return len(list.Items) > 0, nil
}

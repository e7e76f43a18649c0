// Package client talks to the API server about the kinds of monitoring.coreos.com:
// list and watch for informers, and writing status. It is one REST client per
// version used through type parameters, so a further kind needs no code here.
package client

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Client reaches one version of the API group.
type Client struct {
	rest    rest.Interface
	version schema.GroupVersion
}

// New returns a client for a version whose types are registered in scheme.
func New(cfg *rest.Config, scheme *runtime.Scheme, version schema.GroupVersion) (*Client, error) {
	c := rest.CopyConfig(cfg)
	c.GroupVersion = &version
	c.APIPath = "/apis"
	c.ContentType = runtime.ContentTypeJSON
	c.NegotiatedSerializer = quick{serializer.NewCodecFactory(scheme).WithoutConversion(), scheme}
	r, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", version, err)
	}
	return &Client{rest: r, version: version}, nil
}

// REST is what list-watchers are made of.
func (c *Client) REST() rest.Interface { return c.rest }

// ApplyStatus writes the status subresource by server-side apply, taking over
// fields of other managers. status is the complete status that we want to own.
//
// Errors: those of the API server; NotFound when the object is gone.
func (c *Client) ApplyStatus(ctx context.Context, kind, resource, namespace, name, manager string, status any) error {
	body, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        map[string]string `json:"metadata"`
		Status          any               `json:"status"`
	}{
		TypeMeta: metav1.TypeMeta{APIVersion: c.version.String(), Kind: kind},
		Metadata: map[string]string{"name": name, "namespace": namespace},
		Status:   status,
	})
	if err != nil {
		return fmt.Errorf("encode status of %s %q: %w", kind, name, err)
	}
	err = c.rest.Patch(types.ApplyPatchType).Namespace(namespace).Resource(resource).Name(name).SubResource("status").
		Param("fieldManager", manager).Param("force", "true").Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("apply status of %s %q: %w", kind, name, err)
	}
	return nil
}

// Exists asks the API server whether there is an object. It lists, which whoever
// watches the kind may do.
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

// Operation is one step of a JSON patch.
type Operation struct {
	Op    string `json:"op"` // "test", "add", "replace", "remove"
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// JSONPatch changes an object step by step, or not at all when a test fails.
//
// Errors: those of the API server; NotFound when the object is gone, Invalid when
// a test fails.
func (c *Client) JSONPatch(ctx context.Context, resource, namespace, name, manager string, steps ...Operation) error {
	body, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("encode patch of %s %q: %w", resource, name, err)
	}
	err = c.rest.Patch(types.JSONPatchType).Namespace(namespace).Resource(resource).Name(name).
		Param("fieldManager", manager).Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("patch %s %q: %w", resource, name, err)
	}
	return nil
}

// ReplaceStatus writes the status subresource of an object in one version, and
// returns what is there afterwards, as JSON.
//
// Errors: those of the API server; Conflict when the object has another version,
// NotFound when it is gone.
func (c *Client) ReplaceStatus(ctx context.Context, kind, resource, namespace, name, version, manager string, status any) ([]byte, error) {
	body, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        map[string]string `json:"metadata"`
		Status          any               `json:"status"`
	}{
		TypeMeta: metav1.TypeMeta{APIVersion: c.version.String(), Kind: kind},
		Metadata: map[string]string{"name": name, "namespace": namespace, "resourceVersion": version},
		Status:   status,
	})
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return c.rest.Put().Namespace(namespace).Resource(resource).Name(name).SubResource("status").
		Param("fieldManager", manager).Param("fieldValidation", "Strict").SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Raw()
}

// PatchStatus changes the status subresource step by step, or not at all when a
// test fails, and returns what is there afterwards, as JSON.
//
// Errors: those of the API server; NotFound when the object is gone, Invalid when
// a test fails.
func (c *Client) PatchStatus(ctx context.Context, resource, namespace, name, manager string, steps ...Operation) ([]byte, error) {
	body, err := json.Marshal(steps)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return c.rest.Patch(types.JSONPatchType).Namespace(namespace).Resource(resource).Name(name).SubResource("status").
		Param("fieldManager", manager).Param("fieldValidation", "Strict").Body(body).Do(ctx).Raw()
}

package readers

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// Cluster reads from an API server.
type Cluster struct {
	Kube kubernetes.Interface
	// CRDs are the clients for the versions of our API group.
	CRDs map[schema.GroupVersion]*client.Client
}

// pageSize is the number of objects in a page: some megabytes of pods.
const pageSize = 500

// Get implements [Reader].
func (c Cluster) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (Object, error) {
	client, err := c.client(of)
	if err != nil {
		return nil, err
	}
	object, err := client.Get().NamespaceIfScoped(key.Namespace, key.Namespace != "").Resource(of.Resource).Name(key.Name).Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	return object.(Object), nil
}

// List implements [Reader]. If the continue token expires, the list is read again in one page.
func (c Cluster) List(ctx context.Context, q Query) ([]Object, error) {
	out, err := c.pages(ctx, q, pageSize)
	if apierrors.IsResourceExpired(err) {
		out, err = c.pages(ctx, q, 0)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil // not installed
	}
	return out, err
}

// pages lists page by page, with at most size objects per page; 0 for a single page.
func (c Cluster) pages(ctx context.Context, q Query, size int) (out []Object, err error) {
	client, err := c.client(q.GroupVersionResource)
	if err != nil {
		return nil, err
	}
	if q.Limit > 0 && size > 0 {
		size = min(size, q.Limit)
	}
	for token := ""; ; {
		r := client.Get().NamespaceIfScoped(q.Namespace, q.Namespace != "").Resource(q.Resource)
		parameters := map[string]string{"labelSelector": q.Labels, "continue": token, "limit": strconv.Itoa(size)}
		if q.Name != "" {
			parameters["fieldSelector"] = fields.OneTermEqualSelector("metadata.name", q.Name).String()
		}
		for name, value := range parameters {
			if value != "" && value != "0" {
				r = r.Param(name, value)
			}
		}
		page, err := r.Do(ctx).Get()
		if err != nil {
			return nil, err
		}
		err = meta.EachListItem(page, func(o runtime.Object) error {
			if kept := q.Kept(o.(Object)); kept != nil {
				out = append(out, kept)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		head, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		if token = head.GetContinue(); token == "" || q.Limit > 0 && len(out) >= q.Limit {
			return out, nil
		}
	}
}

// References implements [Reader].
func (c Cluster) References(ctx context.Context) assets.Reader {
	return assets.NewCache(c.Kube, unwatched{}).Reader(ctx)
}

// unwatched makes the cache read every reference from the API server.
type unwatched struct{}

func (unwatched) Version(assets.Ref) (string, bool) { return "", false }

// client returns the REST client for the API group of a resource.
func (c Cluster) client(of schema.GroupVersionResource) (rest.Interface, error) {
	if ours := c.CRDs[of.GroupVersion()]; ours != nil {
		return ours.REST(), nil
	}
	switch of.Group {
	case "":
		return c.Kube.CoreV1().RESTClient(), nil
	case "apps":
		return c.Kube.AppsV1().RESTClient(), nil
	case "batch":
		return c.Kube.BatchV1().RESTClient(), nil
	case "discovery.k8s.io":
		return c.Kube.DiscoveryV1().RESTClient(), nil
	case "networking.k8s.io":
		return c.Kube.NetworkingV1().RESTClient(), nil
	case "rbac.authorization.k8s.io":
		return c.Kube.RbacV1().RESTClient(), nil
	}
	return nil, fmt.Errorf("no client for the API group %s", of.Group)
}

// Package apiserver reads a cluster from its API server, with the permissions of the caller.
package apiserver

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
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Reader reads from an API server.
type Reader struct {
	Kube kubernetes.Interface
	// CRDs are the clients for the versions of our API group.
	CRDs map[schema.GroupVersion]*client.Client
}

// pageSize is the number of objects in a page: some megabytes of pods.
const pageSize = 500

// Get implements [readers.Reader].
func (r Reader) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	client, err := r.client(of)
	if err != nil {
		return nil, err
	}
	object, err := client.Get().NamespaceIfScoped(key.Namespace, key.Namespace != "").Resource(of.Resource).Name(key.Name).Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	return object.(readers.Object), nil
}

// List implements [readers.Reader]. If the continue token expires, the list is read again in one page.
func (r Reader) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	out, err := r.pages(ctx, q, pageSize)
	if apierrors.IsResourceExpired(err) {
		out, err = r.pages(ctx, q, 0)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil // not installed
	}
	return out, err
}

// pages lists page by page, with at most size objects per page; 0 for a single page.
func (r Reader) pages(ctx context.Context, q readers.Query, size int) (out []readers.Object, err error) {
	client, err := r.client(q.GroupVersionResource)
	if err != nil {
		return nil, err
	}
	if q.Limit > 0 && size > 0 {
		size = min(size, q.Limit)
	}
	for token := ""; ; {
		request := client.Get().NamespaceIfScoped(q.Namespace, q.Namespace != "").Resource(q.Resource)
		parameters := map[string]string{"labelSelector": q.Labels, "continue": token, "limit": strconv.Itoa(size)}
		if q.Name != "" {
			parameters["fieldSelector"] = fields.OneTermEqualSelector("metadata.name", q.Name).String()
		}
		for name, value := range parameters {
			if value != "" && value != "0" {
				request = request.Param(name, value)
			}
		}
		page, err := request.Do(ctx).Get()
		if err != nil {
			return nil, err
		}
		err = meta.EachListItem(page, func(o runtime.Object) error {
			if kept := q.Kept(o.(readers.Object)); kept != nil {
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

// References implements [readers.Reader].
func (r Reader) References(ctx context.Context) assets.Reader {
	return assets.NewCache(r.Kube, unwatched{}).Reader(ctx)
}

// unwatched makes the cache read every reference from the API server.
type unwatched struct{}

func (unwatched) Version(assets.Ref) (string, bool) { return "", false }

// client returns the REST client for the API group of a resource.
func (r Reader) client(of schema.GroupVersionResource) (rest.Interface, error) {
	if ours := r.CRDs[of.GroupVersion()]; ours != nil {
		return ours.REST(), nil
	}
	switch of.Group {
	case "":
		return r.Kube.CoreV1().RESTClient(), nil
	case "apps":
		return r.Kube.AppsV1().RESTClient(), nil
	case "batch":
		return r.Kube.BatchV1().RESTClient(), nil
	case "discovery.k8s.io":
		return r.Kube.DiscoveryV1().RESTClient(), nil
	case "networking.k8s.io":
		return r.Kube.NetworkingV1().RESTClient(), nil
	case "rbac.authorization.k8s.io":
		return r.Kube.RbacV1().RESTClient(), nil
	}
	return nil, fmt.Errorf("no client for the API group %s", of.Group)
}

// May implements [readers.Reviewer].
func (r Reader) May(ctx context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	return readers.May(ctx, r.Kube, account, verb, of, namespace)
}

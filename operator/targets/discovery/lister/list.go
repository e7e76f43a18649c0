package lister

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

const (
	// pageSize is the number of objects in a page: some megabytes of pods.
	pageSize = 500
	// pageTimeout is the timeout of a request to the API server.
	pageTimeout = 30 * time.Second
	// parallelLists is the maximum number of concurrent lists.
	parallelLists = 4
)

// content has the trimmed objects of a list, or why it could not be read.
type content struct {
	objects *discovery.Objects
	err     error
}

// readAll reads lists.
func (c Cluster) readAll(ctx context.Context, lists []list) map[list]content {
	var mu sync.Mutex
	out := map[list]content{}
	var g errgroup.Group
	g.SetLimit(parallelLists)
	for _, l := range lists {
		g.Go(func() error {
			objects, err := c.read(ctx, l)
			mu.Lock()
			defer mu.Unlock()
			out[l] = content{objects, err}
			return nil
		})
	}
	_ = g.Wait()
	return out
}

// read reads a list page by page and decodes pages while it waits for the next one. If the continue
// token expires, the list is read again in one piece.
func (c Cluster) read(ctx context.Context, l list) (*discovery.Objects, error) {
	pages, err := c.pages(ctx, l, pageSize)
	if apierrors.IsResourceExpired(err) {
		pages, err = c.pages(ctx, l, 0)
	}
	if err != nil {
		return nil, err
	}
	out := &discovery.Objects{}
	for _, page := range pages {
		out.Join(page)
	}
	return out, nil
}

// pages returns the pages of a list with at most limit objects each; 0 for one page.
func (c Cluster) pages(ctx context.Context, l list, limit int) (out []*discovery.Objects, err error) {
	var decoding errgroup.Group
	decoding.SetLimit(runtime.GOMAXPROCS(0)) // also limits the number of pages in memory
	for token := ""; ; {
		var p page
		if p, err = c.page(ctx, l, token, limit); err != nil {
			break
		}
		if token, err = p.next(); err != nil {
			p.release()
			break
		}
		objects := &discovery.Objects{}
		out = append(out, objects)
		decoding.Go(func() error {
			defer p.release()
			return p.decode(l.kind.Role, objects, c.Applied == nil) // only those of the cluster are left as they are
		})
		if token == "" {
			break
		}
	}
	return out, cmp.Or(err, decoding.Wait())
}

// page reads one page of a list. It prefers protobuf, which is shorter and faster to decode than
// JSON.
func (c Cluster) page(ctx context.Context, l list, token string, limit int) (page, error) {
	client, err := c.client(l.kind)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	r := client.Get().NamespaceIfScoped(l.namespace, l.namespace != "").Resource(l.kind.Resource.Resource).
		SetHeader("Accept", apiruntime.ContentTypeProtobuf+","+apiruntime.ContentTypeJSON)
	for name, value := range map[string]string{"labelSelector": l.label, "fieldSelector": l.field, "continue": token} {
		if value != "" {
			r = r.Param(name, value)
		}
	}
	if limit > 0 {
		r = r.Param("limit", strconv.Itoa(limit))
	}
	body, err := r.Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readPage(body)
}

// client returns the client for the API group of a kind.
func (c Cluster) client(kind discovery.Kind) (rest.Interface, error) {
	switch kind.Resource.Group {
	case "":
		return c.Kube.CoreV1().RESTClient(), nil
	case "discovery.k8s.io":
		return c.Kube.DiscoveryV1().RESTClient(), nil
	case "networking.k8s.io":
		return c.Kube.NetworkingV1().RESTClient(), nil
	}
	return nil, fmt.Errorf("no client for the API group %s", kind.Resource.Group)
}

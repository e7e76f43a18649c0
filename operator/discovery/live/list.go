package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/discovery"
)

const (
	// pageSize is the number of objects in a page: some megabytes of pods.
	pageSize = 500
	// pageTimeout is how long the API server may take for a page.
	pageTimeout = 30 * time.Second
	// readers is the number of lists that are read at the same time.
	readers = 4
)

// content is what a list has, trimmed, or why it could not be read.
type content struct {
	objects *discovery.Objects
	err     error
}

// readAll reads lists.
func (c Cluster) readAll(ctx context.Context, lists []list) map[list]content {
	var mu sync.Mutex
	out := map[list]content{}
	var g errgroup.Group
	g.SetLimit(readers)
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

// read reads a list page by page. When it takes longer than the API server keeps its state,
// the list is read anew in one piece.
func (c Cluster) read(ctx context.Context, l list) (*discovery.Objects, error) {
	out, token, limit := &discovery.Objects{}, "", pageSize
	for {
		page, err := c.page(ctx, l, token, limit)
		switch {
		case apierrors.IsResourceExpired(err) && limit > 0:
			out, token, limit = &discovery.Objects{}, "", 0
			continue
		case err != nil:
			return nil, err
		}
		if err := meta.EachListItem(page, func(o runtime.Object) error {
			if object, ok := o.(discovery.Object); ok {
				out.Add(object)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		m, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		if token = m.GetContinue(); token == "" {
			return out, nil
		}
	}
}

// page reads one page of a list. The form of the answer is the API server's own, which is
// shorter and faster to read than JSON.
func (c Cluster) page(ctx context.Context, l list, token string, limit int) (runtime.Object, error) {
	client, err := c.client(l.kind)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	r := client.Get().NamespaceIfScoped(l.namespace, l.namespace != "").Resource(l.kind.Resource.Resource).
		SetHeader("Accept", runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON)
	for name, value := range map[string]string{"labelSelector": l.label, "fieldSelector": l.field, "continue": token} {
		if value != "" {
			r = r.Param(name, value)
		}
	}
	if limit > 0 {
		r = r.Param("limit", strconv.Itoa(limit))
	}
	out, err := r.Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	if _, status := out.(*metav1.Status); status {
		return nil, errors.New("the API server answers with a status instead of a list")
	}
	return out, nil
}

// client reaches the API group of a kind.
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

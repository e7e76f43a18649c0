package engine

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Named returns an object that a workload names; nil if it does not exist or is being deleted.
//
// Errors: the API server does not return it.
func Named[T catalog.Object](c Cluster, row *catalog.Row, name types.NamespacedName) (out T, err error) {
	obj, err := c.named(row, name)
	if obj == nil || err != nil || obj.GetDeletionTimestamp() != nil {
		return out, err
	}
	return manifest.Whole(obj).(T), nil
}

// named uses c.Named if set and searches the objects otherwise.
func (c Cluster) named(row *catalog.Row, name types.NamespacedName) (catalog.Object, error) {
	if c.Named != nil {
		return c.Named(row, name)
	}
	if all := c.Objects(row.Kind); all != nil {
		for obj := range all {
			if obj.GetNamespace() == name.Namespace && obj.GetName() == name.Name {
				return obj, nil
			}
		}
	}
	return nil, nil
}

// lookup identifies an object of an unwatched kind that a workload names.
type lookup struct {
	row  *catalog.Row
	name types.NamespacedName
}

// found is the cached response of the API server for a lookup.
type found struct {
	object catalog.Object // nil if it does not exist
	err    error
	until  time.Time
}

// namedPeriod is the validity of a cached unwatched object, whose changes trigger no event.
const namedPeriod = time.Minute

// named returns an object that a workload names, from the watch if that covers it.
func (a referenceReader) named(ctx context.Context, row *catalog.Row, name types.NamespacedName) (catalog.Object, error) {
	store := a.c.stores.config(row)
	if store == nil {
		return nil, nil
	}
	if store.Complete(name.Namespace) {
		obj, _ := store.Get(name.Namespace, name.Name)
		return obj, nil
	}
	at := lookup{row, name}
	a.c.mu.Lock()
	got, known := a.state.named[at]
	a.c.mu.Unlock()
	if !known || got.err != nil || time.Now().After(got.until) {
		got = a.c.look(ctx, at)
	}
	a.looked[at] = got
	return got.object, got.err
}

// look reads the object from the API server.
func (c *Controller) look(ctx context.Context, at lookup) found {
	out, until := at.row.New(), time.Now().Add(namedPeriod)
	err := c.stores.clients.of(at.row).REST().Get().Namespace(at.name.Namespace).Resource(at.row.Resource).Name(at.name.Name).Do(ctx).Into(out)
	switch {
	case apierrors.IsNotFound(err):
		return found{until: until}
	case err != nil:
		return found{err: fmt.Errorf("read %s %q: %w", at.row.Kind, at.name.String(), err), until: until}
	}
	return found{object: out, until: until}
}

// keepNamed stores the lookups of a reconciliation.
func (c *Controller) keepNamed(a referenceReader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.state.named = a.looked
}

// namedDue returns the workloads with lookups that are due for another read.
func (c *Controller) namedDue(now time.Time) (out []types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, s := range c.memory {
		for _, f := range s.named {
			if f.err != nil || now.After(f.until) {
				out = append(out, key)
				break
			}
		}
	}
	return out
}

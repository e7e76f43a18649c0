package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// statusFinalizer marks a workload that is named in the statuses of other objects. It keeps the
// workload until these statuses are cleaned up.
const statusFinalizer = "monitoring.coreos.com/status-cleanup"

// staleLook is the pause before another reconciliation of a workload whose cached version is stale.
const staleLook = time.Second

// hold adds the finalizer to a workload that will be named in the statuses of other objects.
//
// Errors: those of the API server, for example if validation now rejects the workload.
func (c *Controller) hold(ctx context.Context, w v1.Workload) error {
	if c.bindings == nil {
		return nil
	}
	state := c.remembered(catalog.KeyOf(w))
	if slices.Contains(w.GetFinalizers(), statusFinalizer) {
		state.held = ""
		return nil
	}
	if state.held == w.GetUID() {
		return nil // not in the cache yet
	}
	err := c.crds.AddFinalizer(ctx, w, statusFinalizer)
	switch {
	case err == nil:
		state.held = w.GetUID()
	case errors.Is(err, apply.ErrOutdated):
		// There is a newer version of the workload, which will arrive in the cache soon.
		c.loop.enqueueAfter(catalog.KeyOf(w), staleLook)
		return nil
	case apierrors.IsNotFound(err):
		return nil
	}
	return err
}

// release removes the finalizer from a workload that is being deleted, no matter which client added
// it: otherwise the workload would stay forever. With statuses, the bindings queue does so after it
// has cleaned them up.
func (c *Controller) release(ctx context.Context, w v1.Workload) error {
	if !slices.Contains(w.GetFinalizers(), statusFinalizer) {
		return nil
	}
	if c.bindings != nil {
		c.bindings.queue.Add(catalog.KeyOf(w))
		return nil
	}
	return c.removeFinalizer(ctx, w)
}

func (c *Controller) removeFinalizer(ctx context.Context, w v1.Workload) error {
	if !slices.Contains(w.GetFinalizers(), statusFinalizer) {
		return nil
	}
	err := c.crds.RemoveFinalizer(ctx, w, statusFinalizer)
	if errors.Is(err, apply.ErrOutdated) {
		// Another client changed the finalizers, or the cached version predates our own change: the
		// cache will be updated soon.
		c.loop.enqueueAfter(catalog.KeyOf(w), staleLook)
		return nil
	}
	return err
}

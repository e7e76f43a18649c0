package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// StatusFinalizer marks a workload that other objects' statuses name. It keeps the
// workload until these statuses are cleaned up.
const StatusFinalizer = "monitoring.coreos.com/status-cleanup"

// staleLook is the pause before a workload is reconciled again of which the cache has
// an old version.
const staleLook = time.Second

// hold puts the finalizer on a workload that other objects' statuses will name.
//
// Errors: those of the API server, which may no longer take the workload as it is.
func (c *Controller) hold(ctx context.Context, w v1.Workload) error {
	if c.bindings == nil {
		return nil
	}
	state := c.remembered(keyOf(w))
	if slices.Contains(w.GetFinalizers(), StatusFinalizer) {
		state.held = ""
		return nil
	}
	if state.held == w.GetUID() {
		return nil // the cache does not show it yet
	}
	err := c.crds.AddFinalizer(ctx, w, StatusFinalizer)
	switch {
	case err == nil:
		state.held = w.GetUID()
	case errors.Is(err, apply.ErrOutdated):
		// There is a newer version of the workload, which the cache is about to show.
		c.loop.EnqueueAfter(keyOf(w), staleLook)
		return nil
	case apierrors.IsNotFound(err):
		return nil
	}
	return err
}

// release takes the finalizer from a workload that is being deleted, whoever put it
// there: without, the workload would stay forever.
func (c *Controller) release(ctx context.Context, w v1.Workload) error {
	if !slices.Contains(w.GetFinalizers(), StatusFinalizer) {
		return nil
	}
	if err := c.unbind(ctx, keyOf(w)); err != nil {
		return err
	}
	err := c.crds.RemoveFinalizer(ctx, w, StatusFinalizer)
	if errors.Is(err, apply.ErrOutdated) {
		// Somebody else changed the finalizers, or this is what was there before our own
		// change: the cache is about to show it.
		c.loop.EnqueueAfter(keyOf(w), staleLook)
		return nil
	}
	return err
}

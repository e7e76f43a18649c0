package prometheus

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/client"
)

// StatusFinalizer marks an owner that other objects' statuses name. It keeps the
// owner until these statuses are cleaned up.
const StatusFinalizer = "monitoring.coreos.com/status-cleanup"

// hold puts the finalizer on an owner that other objects' statuses will name.
func (c *Controller) hold(ctx context.Context, o Owner) error {
	if c.binder == nil {
		return nil
	}
	state := c.state(o.Key())
	if slices.Contains(o.GetFinalizers(), StatusFinalizer) {
		state.held = ""
		return nil
	}
	if state.held == o.GetUID() {
		return nil // the cache does not show it yet
	}
	add := client.Operation{Op: "add", Path: "/metadata/finalizers/-", Value: StatusFinalizer}
	if len(o.GetFinalizers()) == 0 {
		add.Path, add.Value = "/metadata/finalizers", []string{StatusFinalizer}
	}
	err := c.crds.JSONPatch(ctx, c.kind.Resource, o.GetNamespace(), o.GetName(), apply.FieldManager,
		// Somebody else's finalizer must not get lost.
		client.Operation{Op: "test", Path: "/metadata/resourceVersion", Value: o.GetResourceVersion()}, add)
	switch {
	case err == nil:
		state.held = o.GetUID()
	case apierrors.IsInvalid(err):
		c.loop.Enqueue(o.Key()) // there is a newer version of the owner
		return nil
	case apierrors.IsNotFound(err):
		return nil
	}
	return err
}

// release takes the finalizer from an owner that is being deleted, whoever put
// it there: without, the owner would stay forever.
func (c *Controller) release(ctx context.Context, o Owner) error {
	at := slices.Index(o.GetFinalizers(), StatusFinalizer)
	if at < 0 {
		return nil
	}
	if err := c.unbind(ctx, o.Key()); err != nil {
		return err
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", at)
	err := c.crds.JSONPatch(ctx, c.kind.Resource, o.GetNamespace(), o.GetName(), apply.FieldManager,
		// The list may have changed: what is removed must be what was seen.
		client.Operation{Op: "test", Path: path, Value: StatusFinalizer},
		client.Operation{Op: "remove", Path: path})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

package prometheus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/client"
)

// StatusFinalizer marks an owner that other objects' statuses name. It keeps the
// owner until these statuses are cleaned up.
const StatusFinalizer = "monitoring.coreos.com/status-cleanup"

// staleOwnerLook is the pause before an owner is reconciled again of which the cache
// has an old version.
const staleOwnerLook = time.Second

// hold puts the finalizer on an owner that other objects' statuses will name.
//
// Errors: those of the API server, which may no longer take the owner as it is.
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
	case outdated(err):
		// There is a newer version of the owner, which the cache is about to show.
		c.loop.EnqueueAfter(o.Key(), staleOwnerLook)
		return nil
	case apierrors.IsNotFound(err):
		return nil
	}
	return err
}

// outdated reports whether the test of a patch failed. The API server gives causes
// when it would not take the patched object.
func outdated(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && apierrors.IsInvalid(status) && (status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0)
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

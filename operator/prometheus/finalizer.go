package prometheus

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/client"
)

// StatusFinalizer on an owner says that other objects' statuses name it. It keeps
// the owner until somebody has cleaned them up.
const StatusFinalizer = "monitoring.coreos.com/status-cleanup"

// release takes the finalizer from an owner that is being deleted, whoever put
// it there: without, the owner would stay for ever.
func (c *Controller) release(ctx context.Context, o Owner) error {
	at := slices.Index(o.GetFinalizers(), StatusFinalizer)
	if at < 0 {
		return nil
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

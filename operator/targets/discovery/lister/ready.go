package lister

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// errStarting means that the answers of the API server are not those that it will give.
var errStarting = errors.New("the API server is starting")

// ready returns an error while the API server starts: until it has read all roles, it denies permissions that they
// grant. An API server that does not report whether it is ready counts as ready. One that cannot be reached makes the
// reviews fail.
func (c Cluster) ready(ctx context.Context) error {
	client := c.Kube.Discovery().RESTClient()
	if client == nil { // of a fake
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	err := client.Get().AbsPath("/readyz").Do(ctx).Error()
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Code >= 500 {
		return errStarting
	}
	return nil
}

package lister

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// errStarting means that the answers of the API server are not those that it will give.
var errStarting = errors.New("the API server is starting")

// ready returns an error while the API server starts: until it has read all roles, it denies what they allow. An API
// server that does not say whether it is ready is taken for ready; if it cannot be reached, reviews say so.
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

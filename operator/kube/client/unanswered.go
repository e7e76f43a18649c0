package client

import (
	"context"
	"errors"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Unanswered reports whether the API server did not respond to a review; an invalid token is a
// response.
func Unanswered(err error) bool {
	_, status := errors.AsType[*apierrors.StatusError](err)
	_, network := errors.AsType[net.Error](err)
	return status || network || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

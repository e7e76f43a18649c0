package readers

import (
	"context"
	"errors"
	"fmt"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Why returns a human-readable reason why an operation failed, such as verb "list" on "pods in
// namespace demo".
func Why(err error, verb, what string) string {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("you may not %s %s; ask for the verb %[1]s", verb, what)
	case apierrors.IsUnauthorized(err):
		return fmt.Sprintf("the API server does not accept your credentials when you %s %s; log in again", verb, what)
	case apierrors.IsTooManyRequests(err):
		return fmt.Sprintf("the API server has too much to do to %s %s; try again later", verb, what)
	case timedOut(err):
		return fmt.Sprintf("the API server took too long to %s %s; try again", verb, what)
	}
	return fmt.Sprintf("%s %s: %v", verb, what, err)
}

// timedOut reports whether the request timed out.
func timedOut(err error) bool {
	n, network := errors.AsType[net.Error](err)
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || errors.Is(err, context.DeadlineExceeded) || network && n.Timeout()
}

// String returns a human-readable form of the query, such as "pods in namespace demo".
func (q Query) String() string {
	what := q.GroupResource().String()
	switch {
	case q.Namespace != "":
		return what + " in namespace " + q.Namespace
	case clusterScoped[q.GroupVersionResource]:
		return what
	}
	return what + " in all namespaces"
}

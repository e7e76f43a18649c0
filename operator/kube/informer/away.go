package informer

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// unbegun is the type of the watches, which have ended, that clients return without an error if the connection breaks
// before the API server has answered.
var unbegun = reflect.TypeOf(watch.NewEmptyWatch())

var errUnbegun = errors.New("the connection to the API server broke before it answered")

// Away reports whether an error means that the API server, or a proxy in front of it, did not serve a request. A
// response of too many requests, or of a request that takes too long, does not count: it requires longer pauses.
func Away(err error) bool {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusServiceUnavailable || code == http.StatusBadGateway
	}
	_, broken := errors.AsType[*url.Error](err) // of the HTTP client
	return broken || errors.Is(err, errUnbegun)
}

package bindings

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RefusedChange is a change that the API server refused, because of the object or its namespace and not of the caller.
type RefusedChange struct {
	Change Change
	Err    error
	// Place is set if all objects of the kind in the namespace would be refused.
	Place bool
}

// Place identifies the objects of a kind in a namespace, for which permissions and webhooks may differ from others.
type Place struct{ Resource, Namespace string }

// PlaceOf returns the place of the object of a change.
func PlaceOf(c Change) Place { return Place{c.Object.Row.Resource, c.Object.Namespace} }

// OfObject reports whether an error concerns one object and not all: it has changed, a newer schema, a webhook or a
// policy refuses it, or it would become too large.
func OfObject(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || exceedsStorage(err) || denied(err)
}

// ofPlace reports whether an error concerns all objects of a place: a permission is missing, or a webhook does not
// answer.
func ofPlace(err error) bool {
	return !OfObject(err) && (apierrors.IsForbidden(err) || hasMessage(err, "failed calling webhook", "failed to call webhook", "conversion webhook"))
}

// denied reports whether an admission webhook or a ValidatingAdmissionPolicy refuses the object. A webhook chooses the
// code of its refusal, so only the message, which is of the API server, identifies it.
func denied(err error) bool { return hasMessage(err, "denied the request", "denied request") }

// exceedsStorage reports whether the object and its status together are larger than etcd stores. The
// API server responds with 500 and no reason, so only the message of etcd, or of the connection to
// it, identifies it.
func exceedsStorage(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && status.ErrStatus.Code == http.StatusInternalServerError && hasMessage(err, "etcdserver: request is too large", "trying to send message larger than max")
}

// hasMessage reports whether an error is a response of the API server with one of the texts in its message.
func hasMessage(err error, texts ...string) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is {
		return false
	}
	for _, text := range texts {
		if strings.Contains(status.ErrStatus.Message, text) {
			return true
		}
	}
	return false
}

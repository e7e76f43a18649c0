package assets

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// NotFoundError says that an object or one of its keys does not exist.
type NotFoundError struct {
	Ref Ref
	Key string // empty when the whole object is missing
}

func (e *NotFoundError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s does not exist", e.Ref)
	}
	return fmt.Sprintf("%s has no key %q", e.Ref, e.Key)
}

// IsNotFound reports whether err says that an object or key is missing.
func IsNotFound(err error) bool {
	_, ok := errors.AsType[*NotFoundError](err)
	return ok
}

// RefusedError means that the API server answered and does not return the object:
// the reference is at fault, or the permissions in its namespace are. The object
// that holds the reference is rejected, and no other.
type RefusedError struct {
	Ref Ref
	Err error
}

func (e *RefusedError) Error() string {
	if apierrors.IsForbidden(e.Err) {
		return fmt.Sprintf("%s cannot be read: no permission to get %ss in namespace %q", e.Ref, strings.ToLower(e.Ref.Kind.String()), e.Ref.Namespace)
	}
	return fmt.Sprintf("%s cannot be read: %v", e.Ref, e.Err)
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// IsRefused reports whether err says that the API server does not return an object.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// ReadError wraps a failure to reach the cluster: the reference may be fine,
// so the object that holds it must not be rejected for it.
type ReadError struct {
	Ref Ref
	Err error
}

func (e *ReadError) Error() string { return fmt.Sprintf("read %s: %v", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// IsTemporary reports whether err came from reading the cluster and not from
// the references themselves.
func IsTemporary(err error) bool {
	_, ok := errors.AsType[*ReadError](err)
	return ok
}

// readError says whose fault it is that an object could not be read.
func readError(ref Ref, err error) error {
	switch {
	case err == nil || IsNotFound(err):
		return err
	case refused(err):
		return &RefusedError{Ref: ref, Err: err}
	}
	return &ReadError{Ref: ref, Err: err}
}

// refused reports whether the API server answered that this object is not returned.
// 401 is about the operator itself, and would be the answer for every object.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
}

// checkReference refuses names and keys that no object can have. The CRDs have no
// pattern for them, and the client would not even send the request.
func checkReference(kind Kind, name, key string) error {
	switch {
	case name == "":
		return fmt.Errorf("name of the %s is empty", kind)
	case key == "":
		return fmt.Errorf("key of %s %q is empty", kind, excerpt.Of(name, maxShown))
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return fmt.Errorf("%q is not a valid name of a %s: %s", excerpt.Of(name, maxShown), kind, rule(wrong))
	}
	if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
		return fmt.Errorf("%q is not a valid key of %s %q: %s", excerpt.Of(key, maxShown), kind, name, rule(wrong))
	}
	return nil
}

// rule is the first rule that is broken, without its regular expression.
func rule(broken []string) string {
	text, _, _ := strings.Cut(broken[0], " (e.g.")
	return text
}

// maxShown is how many bytes of a name that is none a message repeats.
const maxShown = 80

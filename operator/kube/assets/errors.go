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

// NotFoundError means that an object or one of its keys does not exist.
type NotFoundError struct {
	Ref Ref
	Key string // empty: the object is missing
	// Meant is a similar key that the object has; may be empty.
	Meant string
}

func (e *NotFoundError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s does not exist", e.Ref)
	}
	if e.Meant != "" {
		return fmt.Sprintf("%s has no key %q, did you mean %q?", e.Ref, e.Key, e.Meant)
	}
	return fmt.Sprintf("%s has no key %q", e.Ref, e.Key)
}

// IsNotFound reports whether err is a [NotFoundError].
func IsNotFound(err error) bool {
	_, ok := errors.AsType[*NotFoundError](err)
	return ok
}

// RefusedError means that the API server refused to return the object, because the
// reference is invalid or a permission in its namespace is missing. Only the referring
// object is rejected.
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

// IsRefused reports whether err is a [RefusedError].
func IsRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// ReadError is a failure to reach the API server. The reference may be valid, so the
// referring object must not be rejected.
type ReadError struct {
	Ref Ref
	Err error
}

func (e *ReadError) Error() string { return fmt.Sprintf("read %s: %v", e.Ref, e.Err) }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// IsTemporary reports whether err is a [ReadError], which is caused by the cluster and not by the references.
func IsTemporary(err error) bool {
	_, ok := errors.AsType[*ReadError](err)
	return ok
}

// readError wraps the error of a read in a RefusedError or ReadError.
func readError(ref Ref, err error) error {
	switch {
	case err == nil || IsNotFound(err):
		return err
	case refused(err):
		return &RefusedError{Ref: ref, Err: err}
	}
	return &ReadError{Ref: ref, Err: err}
}

// refused reports whether the API server refuses to return this object. A 401 concerns
// the operator's own account and thus every object.
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

// checkName rejects names that no object can have. The CRDs do not validate them, and the
// client would not send the request.
func checkName(kind Kind, name string) error {
	if name == "" {
		return fmt.Errorf("name of the %s is empty", kind)
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return fmt.Errorf("%q is not a valid name of a %s: %s", excerpt.Of(name, maxShown), kind, rule(wrong))
	}
	return nil
}

// checkKey is like checkName for a key of the object.
func checkKey(kind Kind, name, key string) error {
	if key == "" {
		return fmt.Errorf("key of %s %q is empty", kind, excerpt.Of(name, maxShown))
	}
	if wrong := validation.IsConfigMapKey(key); len(wrong) > 0 {
		return fmt.Errorf("%q is not a valid key of %s %q: %s", excerpt.Of(key, maxShown), kind, excerpt.Of(name, maxShown), rule(wrong))
	}
	return nil
}

// rule returns the first violated rule, without its regular expression.
func rule(broken []string) string {
	text, _, _ := strings.Cut(broken[0], " (e.g.")
	return text
}

// maxShown is the maximum length in bytes of an invalid name in a message.
const maxShown = 80

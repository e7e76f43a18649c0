package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/operator/api/conversion"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
)

const (
	// maxObjects limits the number of objects in a ConversionReview.
	maxObjects = 10_000
	// maxConverted limits the size of one object. API servers accept requests of up to 3
	// MiB.
	maxConverted = 4 << 20
	// convertedWeight is the memory that the conversion of an object needs, per byte of the
	// object.
	convertedWeight = 16
)

// convert responds to a ConversionReview. It returns either all objects in the order of the
// request or none. The objects are decoded one by one.
func (h *Handler) convert(body []byte) (code int, document any) {
	bad := func(err error) (int, any) {
		return http.StatusBadRequest, fmt.Errorf("cannot decode the ConversionReview: %w", err)
	}
	if !json.Valid(body) {
		return bad(json.Unmarshal(body, &struct{}{})) // for its error
	}
	request := jsonspan.Get(body, "request")
	if len(request) == 0 || request[0] != '{' {
		return bad(errors.New("request: must be set"))
	}
	var form metav1.TypeMeta
	out := apiextensionsv1.ConversionResponse{Result: metav1.Status{Status: metav1.StatusSuccess}}
	var version string
	err := errors.Join(text(body, "kind", &form.Kind), text(body, "apiVersion", &form.APIVersion),
		text(request, "uid", (*string)(&out.UID)), text(request, "desiredAPIVersion", &version))
	if err != nil {
		return bad(err)
	}
	objects := jsonspan.Get(request, "objects")
	if jsonspan.Count(objects, maxObjects) > maxObjects {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("request.objects: more than %d objects", maxObjects)
	}
	converted, i := pieces{}, 0
	jsonspan.Elements(objects, func(object []byte) bool {
		one, err := h.convertObject(object, version)
		if err != nil {
			out.Result = metav1.Status{Status: metav1.StatusFailure, Message: fmt.Sprintf("objects[%d]: %s", i, err)}
			return false
		}
		if i++; i > 1 {
			converted = append(converted, []byte(","))
		}
		converted = append(converted, one)
		return true
	})
	if out.Result.Status != metav1.StatusSuccess {
		converted = nil
	}
	return http.StatusOK, around(apiextensionsv1.ConversionReview{TypeMeta: form, Response: &out}, converted)
}

// text decodes a string member, if it is present.
func text(raw []byte, name string, into *string) error {
	value := jsonspan.Get(raw, name)
	if value == nil {
		return nil
	}
	if len(value) > maxName {
		return fmt.Errorf("%s: longer than %d bytes", name, maxName)
	}
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxName limits the length of kinds, versions and UIDs in bytes.
const maxName = 1 << 10

// around inserts the converted objects into the response.
func around(review apiextensionsv1.ConversionReview, converted pieces) any {
	const mark = `"convertedObjects":[`
	review.Response.ConvertedObjects = []runtime.RawExtension{}
	frame, err := json.Marshal(review)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	before, after, _ := bytes.Cut(frame, []byte(mark))
	return append(append(pieces{before, []byte(mark)}, converted...), after, []byte("\n"))
}

// convertObject returns the object in another version, as JSON. Errors name the object.
//
// Errors: an object of another kind; an unsupported version.
func (h *Handler) convertObject(raw []byte, version string) ([]byte, error) {
	if len(raw) > maxConverted {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(raw), maxConverted)
	}
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("it is no object")
	}
	var kind, namespace, name string
	metadata := jsonspan.Get(raw, "metadata")
	// Best effort, since the names are only for errors.
	_ = errors.Join(text(raw, "kind", &kind), text(metadata, "namespace", &namespace), text(metadata, "name", &name))
	return h.guarded(fmt.Sprintf("%s %s/%s", kind, namespace, name), func() ([]byte, error) {
		return conversion.Convert(raw, version)
	})
}

// guarded adds the object to errors and converts a panic to an error, because an API server
// has no fallback for a failed conversion: the response must explain it.
func (h *Handler) guarded(object string, convert func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			h.log.Error("conversion panicked", "panic", fault, "stack", string(debug.Stack()))
			err = errors.New("the conversion panicked, see the log of the webhook")
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", object, err)
		}
	}()
	return convert()
}

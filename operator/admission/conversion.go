package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/operator/amconversion"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// convert answers a ConversionReview. The objects come back in the order of the request,
// or none of them.
func (h *Handler) convert(body []byte) (code int, document any) {
	var in apiextensionsv1.ConversionReview
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, fmt.Errorf("cannot decode the ConversionReview: %w", err)
	}
	if in.Request == nil {
		return http.StatusBadRequest, errors.New("cannot decode the ConversionReview: request: must be set")
	}
	out := &apiextensionsv1.ConversionResponse{UID: in.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for i, object := range in.Request.Objects {
		converted, err := h.convertObject(object.Raw, in.Request.DesiredAPIVersion)
		if err != nil {
			out.ConvertedObjects = nil
			out.Result = metav1.Status{Status: metav1.StatusFailure, Message: fmt.Sprintf("objects[%d]: %s", i, err)}
			break
		}
		out.ConvertedObjects = append(out.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	return http.StatusOK, apiextensionsv1.ConversionReview{TypeMeta: in.TypeMeta, Response: out}
}

// convertObject returns an object in another version, as JSON. Errors name the object and
// its field.
func (h *Handler) convertObject(raw []byte, version string) ([]byte, error) {
	var head metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	alpha, beta := v1alpha1.SchemeGroupVersion.String(), v1beta1.SchemeGroupVersion.String()
	return h.guarded(fmt.Sprintf("%s %s/%s", head.Kind, head.Namespace, head.Name), func() ([]byte, error) {
		switch {
		case head.Kind != v1alpha1.AlertmanagerConfigKind:
			return nil, errors.New("the kind has one version only")
		case head.APIVersion == alpha && version == beta:
			return converted(raw, amconversion.ToBeta)
		case head.APIVersion == beta && version == alpha:
			return converted(raw, amconversion.FromBeta)
		}
		return nil, fmt.Errorf("cannot convert from %q to %q, only between %s and %s", head.APIVersion, version, alpha, beta)
	})
}

// guarded names the object in errors, and makes a panic one of them: the answer must say
// so itself, because nothing stands behind a conversion that fails.
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

func converted[From, To any](raw []byte, convert func(*From) (*To, error)) ([]byte, error) {
	var from From
	if err := manifest.DecodeKnown(raw, &from); err != nil {
		return nil, err
	}
	to, err := convert(&from)
	if err != nil {
		return nil, err
	}
	return json.Marshal(to)
}

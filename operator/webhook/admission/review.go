package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Fault is a reason to reject an object.
type Fault = faults.Finding

const (
	// maxCauses limits the causes of a rejection.
	maxCauses = 200
	// shownFaults limits the faults in its message, which is all that most clients print.
	shownFaults = 5
)

// decider decides one request.
type decider func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// review handles AdmissionReviews. Versions v1 and v1beta1 have the same shape; the response
// has the version of the request.
func (h *Handler) review(decide decider) http.Handler {
	return h.answer(maxReviewBytes, reviewWeight, func(body []byte) (int, any) {
		in, err := readReview(body)
		out := admissionv1.AdmissionReview{TypeMeta: in.TypeMeta}
		if err != nil {
			out.Response = refuse("", "cannot decode the AdmissionReview", Fault{Reason: err.Error()})
			if out.Kind == "" {
				out.TypeMeta = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}
			}
			return http.StatusOK, out
		}
		out.Response = decide(in.Request)
		out.Response.UID = in.Request.UID
		if !out.Response.Allowed {
			h.log.Info("object refused", "resource", in.Request.Resource.Resource, "namespace", in.Request.Namespace,
				"name", in.Request.Name, "operation", in.Request.Operation, "reason", out.Response.Result.Message)
		}
		return http.StatusOK, out
	})
}

// readReview decodes an AdmissionReview. Its objects are not decoded but refer to body.
//
// Errors: invalid JSON; not an AdmissionReview; more content than a valid request can have.
func readReview(body []byte) (in admissionv1.AdmissionReview, err error) {
	if !json.Valid(body) {
		return in, json.Unmarshal(body, &struct{}{}) // for its error
	}
	request := jsonspan.Get(body, "request")
	objects := map[string]*runtime.RawExtension{}
	envelope := body
	if request != nil {
		found := admissionv1.AdmissionRequest{}
		objects["object"], objects["oldObject"], objects["options"] = &found.Object, &found.OldObject, &found.Options
		envelope = without(body, request, objects)
	}
	if len(envelope) > maxEnvelope || jsonspan.Weighty(envelope) > maxEnvelopeUsed {
		return in, fmt.Errorf("there is more in it beside the objects than a request has: %d bytes, the limit is %d", len(envelope), maxEnvelope)
	}
	if err := json.Unmarshal(envelope, &in); err != nil {
		return in, err
	}
	if in.Request == nil {
		return in, errors.New("request: must be set")
	}
	if request != nil {
		in.Request.Object, in.Request.OldObject, in.Request.Options = *objects["object"], *objects["oldObject"], *objects["options"]
	}
	return in, nil
}

// without returns a copy of the review without the objects of its request, and stores these
// in objects. The last of duplicate members wins.
func without(body, request []byte, objects map[string]*runtime.RawExtension) []byte {
	var out []byte
	last := 0
	offset := func(part []byte) int { return cap(body) - cap(part) } // part must be a subslice of body
	jsonspan.Members(request, func(name string, value []byte) bool {
		into := objects[name]
		if into == nil {
			return true
		}
		into.Raw = nil
		if value[0] == '{' {
			into.Raw = value
		}
		at := offset(value)
		out = append(append(out, body[last:at]...), "null"...)
		last = at + len(value)
		return true
	})
	return append(out, body[last:]...)
}

// leaves reports whether a request must always be allowed because it deletes an object, or
// changes one that is being deleted, for example to remove a finalizer.
func leaves(r *admissionv1.AdmissionRequest) bool {
	deleted := jsonspan.Get(r.Object.Raw, "metadata", "deletionTimestamp")
	return r.Operation == admissionv1.Delete || len(deleted) > 0 && deleted[0] == '"'
}

// sameSpec reports whether a request changes only metadata or status. Labels and finalizers
// can be changed even if the object is invalid, for example because it was stored before the
// webhook existed.
func sameSpec(r *admissionv1.AdmissionRequest) bool {
	if r.Operation != admissionv1.Update {
		return false
	}
	before := jsonspan.Get(r.OldObject.Raw, "spec")
	return before != nil && bytes.Equal(before, jsonspan.Get(r.Object.Raw, "spec")) // API servers sort the fields
}

// allow allows an object unchanged.
func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// refuse rejects an object.
//
// resource is the plural name, such as "prometheusrules". message is the kind of failure.
func refuse(resource, message string, faults ...Fault) *admissionv1.AdmissionResponse {
	status := &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Details: &metav1.StatusDetails{Name: resource},
	}
	var shown []string
	for i, f := range faults {
		if i < shownFaults {
			shown = append(shown, f.String())
		}
		if i == maxCauses {
			status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Message: fmt.Sprintf("and %d more", len(faults)-i)})
			break
		}
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Field: f.Field, Message: f.Reason})
	}
	if more := len(faults) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	status.Message = message + ": " + strings.Join(shown, "; ")
	return &admissionv1.AdmissionResponse{Result: status}
}

// decode checks the size of the object of a request and decodes it.
func decode(r *admissionv1.AdmissionRequest, into any) []Fault {
	if len(r.Object.Raw) == 0 {
		return []Fault{{Reason: "the request has no object"}}
	}
	if faults := tooLarge(r); len(faults) > 0 {
		return faults
	}
	return faultsOf(manifest.DecodeKnown(r.Object.Raw, into))
}

// faultsOf returns the errors in an object.
func faultsOf(err error) []Fault { return faults.Of(err) }

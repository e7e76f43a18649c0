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

	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Fault is one reason to refuse an object.
type Fault struct {
	Field  string // as the user wrote it: "spec.groups[0].rules[1].expr"; empty for the whole object
	Reason string
}

// String is one line.
func (f Fault) String() string {
	if f.Field == "" {
		return f.Reason
	}
	return f.Field + ": " + f.Reason
}

const (
	// maxCauses bounds the faults of a refusal.
	maxCauses = 200
	// shownFaults is how many of them its message has too, which is all that most
	// programs print.
	shownFaults = 5
)

// decider decides about one request.
type decider func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// review answers AdmissionReviews. Versions v1 and v1beta1 have the same shape, the
// answer has that of the request.
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

// readReview decodes an AdmissionReview, apart from its objects, which are parts of body.
//
// Errors: no JSON; no AdmissionReview; one with more than a request can have.
func readReview(body []byte) (in admissionv1.AdmissionReview, err error) {
	if !json.Valid(body) {
		return in, json.Unmarshal(body, &struct{}{}) // which says why
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

// without copies a review without the objects of its request, which it puts into objects. Of
// one that is there twice, the last counts.
func without(body, request []byte, objects map[string]*runtime.RawExtension) []byte {
	var out []byte
	last := 0
	offset := func(part []byte) int { return cap(body) - cap(part) } // part is one of body
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

// leaves reports a request that must not be refused, whatever is in the object: one that
// deletes it, or changes it while it is being deleted, such as taking a finalizer away.
func leaves(r *admissionv1.AdmissionRequest) bool {
	deleted := jsonspan.Get(r.Object.Raw, "metadata", "deletionTimestamp")
	return r.Operation == admissionv1.Delete || len(deleted) > 0 && deleted[0] == '"'
}

// sameSpec reports whether a request changes only metadata or status: labels and finalizers
// of an object that became wrong, or was stored before there was a webhook, can be changed.
func sameSpec(r *admissionv1.AdmissionRequest) bool {
	if r.Operation != admissionv1.Update {
		return false
	}
	before := jsonspan.Get(r.OldObject.Raw, "spec")
	return before != nil && bytes.Equal(before, jsonspan.Get(r.Object.Raw, "spec")) // API servers sort the fields
}

// allow lets an object pass as it is.
func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

// refuse refuses an object.
//
// resource: "prometheusrules", message: what kind of failure.
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

// decode reads the object of a request, if it is not too large for that.
func decode(r *admissionv1.AdmissionRequest, into any) []Fault {
	if len(r.Object.Raw) == 0 {
		return []Fault{{Reason: "the request has no object"}}
	}
	if faults := tooLarge(r); len(faults) > 0 {
		return faults
	}
	return faultsOf(manifest.DecodeKnown(r.Object.Raw, into))
}

// faultsOf are the faults in an error that fields of a manifest have.
func faultsOf(err error) (out []Fault) {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			out = append(out, faultsOf(e)...)
		}
		return out
	}
	if at, ok := errors.AsType[*manifest.FieldError](err); ok {
		reason := (&manifest.FieldError{Reason: at.Reason, Suggestion: at.Suggestion}).Error()
		return []Fault{{Field: at.Path, Reason: reason}}
	}
	return []Fault{{Reason: err.Error()}}
}

package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// operation is an operation of a JSON Patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// looseRule is a PrometheusRule whose labels and annotations may have any type.
type looseRule struct {
	Metadata struct {
		Annotations map[string]json.RawMessage `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Groups []struct {
			Rules []struct {
				Annotations map[string]json.RawMessage `json:"annotations"`
				Labels      map[string]json.RawMessage `json:"labels"`
			} `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

// mutateRule converts label and annotation values without quotes (`enabled: true`) to
// strings, and marks the object as validated.
func mutateRule(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if refusal := onlyRules(r); refusal != nil {
		return refusal
	}
	if leaves(r) {
		return allow()
	}
	var object looseRule
	switch faults := decode(r, &object); {
	case len(faults) > 0 && sameSpec(r):
		return allow()
	case len(faults) > 0:
		return refuse(v1.PrometheusRuleResource, "cannot decode the PrometheusRule", faults...)
	}
	patch, err := json.Marshal(object.patch())
	if err != nil {
		return refuse(v1.PrometheusRuleResource, "cannot write the patch", Fault{Reason: err.Error()})
	}
	form := admissionv1.PatchTypeJSONPatch
	return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &form}
}

// patch returns the changes, in the order of the object.
func (o *looseRule) patch() (out []operation) {
	for i, group := range o.Spec.Groups {
		for j, rule := range group.Rules {
			at := fmt.Sprintf("/spec/groups/%d/rules/%d/", i, j)
			out = append(out, quote(at+"annotations/", rule.Annotations)...)
			out = append(out, quote(at+"labels/", rule.Labels)...)
		}
	}
	if o.Metadata.Annotations == nil {
		return append(out, operation{"add", "/metadata/annotations", map[string]string{wellknown.AnnotationValidated: "true"}})
	}
	return append(out, operation{"add", "/metadata/annotations/" + wellknown.AnnotationValidated, "true"})
}

// quote converts values to strings. Numbers keep their spelling.
func quote(path string, values map[string]json.RawMessage) (out []operation) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var text bytes.Buffer
		if json.Compact(&text, values[key]) != nil || text.Len() == 0 || text.Bytes()[0] == '"' || text.String() == "null" {
			continue
		}
		out = append(out, operation{"replace", path + escape.Replace(key), text.String()})
	}
	return out
}

// escape escapes a key for a JSON pointer (RFC 6901).
var escape = strings.NewReplacer("~", "~0", "/", "~1")

package admission

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
)

// byThemselves are the kinds with separate paths, in any version.
var byThemselves = []string{catalog.PrometheusRule.Kind, catalog.AlertmanagerConfig.Kind}

// maxWarnings limits the warnings of a response, because API servers truncate them after
// 4,096 bytes.
const maxWarnings = 10

// validateObject rejects an object of any other kind that no operator would accept,
// whatever the state of the cluster. Fields that have no effect in its version become
// warnings.
func (h *Handler) validateObject(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	i := slices.IndexFunc(catalog.All, func(row *catalog.Row) bool {
		return r.Resource.Group == row.Group && r.Resource.Resource == row.Resource && r.Resource.Version == row.Version &&
			!slices.Contains(byThemselves, row.Kind)
	})
	if i < 0 {
		return refuse(r.Resource.Resource, "Unexpected resource kind", Fault{Reason: fmt.Sprintf("%s is not checked here", resourceOf(r))})
	}
	row := catalog.All[i]
	if leaves(r) || r.SubResource != "" || sameSpec(r) {
		return allow()
	}
	object := row.New()
	if faults := decode(r, object); len(faults) > 0 {
		return refuse(row.Resource, "cannot decode the "+row.Kind, faults...)
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(r.Namespace)
	}
	var faults []Fault
	var warnings []string
	for _, f := range lint.Object(h.opts.Kinds(), row, object, r.Object.Raw) {
		fault := Fault{Field: f.Field, Reason: f.Message}
		switch f.Severity {
		case lint.SeverityError:
			faults = append(faults, fault)
		case lint.SeverityWarning:
			warnings = append(warnings, fmt.Sprintf("%s %s/%s: %s", row.Kind, object.GetNamespace(), object.GetName(), fault))
		}
	}
	if len(faults) > 0 {
		return refuse(row.Resource, row.Kind+" is invalid", faults...)
	}
	return allowWith(warnings)
}

// allowWith allows a request with warnings, of which it keeps the first.
func allowWith(warnings []string) *admissionv1.AdmissionResponse {
	if more := len(warnings) - maxWarnings; more > 0 {
		warnings = append(warnings[:maxWarnings], fmt.Sprintf("and %d more", more))
	}
	return &admissionv1.AdmissionResponse{Allowed: true, Warnings: warnings}
}

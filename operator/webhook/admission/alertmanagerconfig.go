package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/conversion"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
)

// validateAlertmanagerConfig rejects an AlertmanagerConfig that no Alertmanager would
// accept. Faults are reported in terms of the version of the request.
func validateAlertmanagerConfig(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	row := catalog.AlertmanagerConfig
	if r.Resource.Group != row.Group || r.Resource.Resource != row.Resource {
		return refuse(row.Resource, "Unexpected resource kind", Fault{Reason: fmt.Sprintf("want %s.%s, got %s", row.Resource, row.Group, resourceOf(r))})
	}
	if leaves(r) || sameSpec(r) {
		return allow()
	}
	switch r.Resource.Version {
	case v1alpha1.Version:
		var object v1alpha1.AlertmanagerConfig
		return checkAlertmanagerConfig(r, &object, func() error { return amconfig.Validate(&object) })
	case v1beta1.Version:
		var object v1beta1.AlertmanagerConfig
		return checkAlertmanagerConfig(r, &object, func() error { return validateBeta(&object) })
	}
	return refuse(row.Resource, "Unexpected resource version", Fault{Reason: fmt.Sprintf("want %s or %s, got %s", v1alpha1.Version, v1beta1.Version, r.Resource.Version)})
}

func checkAlertmanagerConfig(r *admissionv1.AdmissionRequest, object catalog.Object, validate func() error) *admissionv1.AdmissionResponse {
	resource := catalog.AlertmanagerConfig.Resource
	if wrong := decode(r, object); len(wrong) > 0 {
		return refuse(resource, "cannot decode the AlertmanagerConfig", wrong...)
	}
	if err := validate(); err != nil {
		return refuse(resource, "AlertmanagerConfig is invalid", faultsOf(err)...)
	}
	return allow()
}

// validateBeta checks an object and reports its faults in terms of v1beta1.
func validateBeta(object *v1beta1.AlertmanagerConfig) error {
	alpha, err := conversion.FromBeta(object)
	if err == nil {
		err = amconfig.Validate(alpha)
	}
	return conversion.BetaError(err)
}

package admission

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
)

// validateRule rejects a PrometheusRule that no Prometheus would load.
func (h *Handler) validateRule(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if refusal := onlyRules(r); refusal != nil {
		return refusal
	}
	var object v1.PrometheusRule
	if leaves(r) || sameSpec(r) {
		return allow()
	}
	if faults := decode(r, &object); len(faults) > 0 {
		return refuse(v1.PrometheusRuleResource, "cannot decode the PrometheusRule", faults...)
	}
	if object.Namespace == "" {
		object.Namespace = r.Namespace
	}
	if err := rules.Compile(&object, h.opts.Rules).Err; err != nil {
		return refuse(v1.PrometheusRuleResource, "PrometheusRule is invalid", faultsOf(err)...)
	}
	var warnings []string // the version is not known here
	for _, fault := range faultsOf(rules.Former(&object, h.opts.Rules)) {
		warnings = append(warnings, fmt.Sprintf("%s %s/%s: %s", catalog.PrometheusRule.Kind, object.Namespace, object.Name, fault))
	}
	return allowWith(warnings)
}

// onlyRules rejects requests for other resources than PrometheusRules.
func onlyRules(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	want := catalog.PrometheusRule
	if r.Resource.Group == want.Group && r.Resource.Resource == want.Resource && r.Resource.Version == want.Version {
		return nil
	}
	return refuse(v1.PrometheusRuleResource, "Unexpected resource kind", Fault{Reason: fmt.Sprintf(
		"want %s.%s %s, got %s", want.Resource, want.Group, want.Version, resourceOf(r))})
}

// resourceOf returns the resource and version of a request: "pods v1",
// "prometheusrules.monitoring.coreos.com v1".
func resourceOf(r *admissionv1.AdmissionRequest) string {
	return strings.TrimSuffix(r.Resource.Resource+"."+r.Resource.Group, ".") + " " + r.Resource.Version
}

package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// SelectorMechanism tells where the label selector of a monitor is applied: RelabelConfig has Prometheus
// discover everything in the namespaces and drop what does not match, RoleSelector has the API server filter
// (since Prometheus 2.17.0; older servers reject the monitor).
//
// +kubebuilder:validation:Enum=RelabelConfig;RoleSelector
type SelectorMechanism string

// Values of SelectorMechanism.
const (
	SelectorMechanismRelabelConfig SelectorMechanism = "RelabelConfig"
	SelectorMechanismRoleSelector  SelectorMechanism = "RoleSelector"
)

// ServiceDiscoveryRole is the kind of object that Prometheus watches to find the addresses behind a Service.
// EndpointSlice needs Prometheus 2.21.0; older servers use Endpoints.
//
// +kubebuilder:validation:Enum=Endpoints;EndpointSlice
type ServiceDiscoveryRole string

// Values of ServiceDiscoveryRole.
const (
	EndpointsRole     ServiceDiscoveryRole = "Endpoints"
	EndpointSliceRole ServiceDiscoveryRole = "EndpointSlice"
)

// SecretOrConfigMap points to a value in a Secret or in a ConfigMap of the same namespace. Setting both is an
// error.
type SecretOrConfigMap struct {
	// Key of a ConfigMap that holds the value.
	//
	// +optional
	ConfigMap *corev1.ConfigMapKeySelector `json:"configMap,omitempty"`

	// Key of a Secret that holds the value.
	//
	// +optional
	Secret *corev1.SecretKeySelector `json:"secret,omitempty"`
}

// NamespaceSelector selects namespaces in which to look for objects. Empty, it selects the namespace of the
// object it is part of.
type NamespaceSelector struct {
	// Whether all namespaces are selected. It wins over the list.
	//
	// +optional
	Any bool `json:"any,omitempty"`

	// Names of the selected namespaces.
	//
	// +optional
	MatchNames []string `json:"matchNames,omitempty"`
}

// ObjectReference names configuration objects that are exempt from a rule that the Prometheus enforces.
type ObjectReference struct {
	// API group of the objects.
	//
	// +kubebuilder:validation:Enum="monitoring.coreos.com"
	// +kubebuilder:default:="monitoring.coreos.com"
	// +optional
	Group string `json:"group,omitempty"`

	// Name of one object. Empty means all objects of the resource in the namespace.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Namespace of the objects.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Namespace string `json:"namespace"`

	// Resource (plural) of the objects.
	//
	// +kubebuilder:validation:Enum=prometheusrules;servicemonitors;podmonitors;probes;scrapeconfigs
	// +required
	Resource string `json:"resource"`
}

// Names reports whether one of the references names an object of this group. resource is the plural of
// its kind, in lower case.
func Names(all []ObjectReference, resource, namespace, name string) bool {
	for _, r := range all {
		if r.Namespace != "" && r.Namespace == namespace && r.Resource == resource && (r.Group == "" || r.Group == GroupName) && (r.Name == "" || r.Name == name) {
			return true
		}
	}
	return false
}

package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// SelectorMechanism is an enumeration.
//
// +kubebuilder:validation:Enum=RelabelConfig;RoleSelector
type SelectorMechanism string

// Values of SelectorMechanism.
const (
	SelectorMechanismRelabelConfig SelectorMechanism = "RelabelConfig"
	SelectorMechanismRoleSelector  SelectorMechanism = "RoleSelector"
)

// ServiceDiscoveryRole is an enumeration.
//
// +kubebuilder:validation:Enum=Endpoints;EndpointSlice
type ServiceDiscoveryRole string

// Values of ServiceDiscoveryRole.
const (
	EndpointsRole     ServiceDiscoveryRole = "Endpoints"
	EndpointSliceRole ServiceDiscoveryRole = "EndpointSlice"
)

// SecretOrConfigMap holds settings.
type SecretOrConfigMap struct {
	// ConfigMap is a setting.
	//
	// +optional
	ConfigMap *corev1.ConfigMapKeySelector `json:"configMap,omitempty"`

	// Secret is a setting.
	//
	// +optional
	Secret *corev1.SecretKeySelector `json:"secret,omitempty"`
}

// NamespaceSelector holds settings.
type NamespaceSelector struct {
	// Any is a setting.
	//
	// +optional
	Any bool `json:"any,omitempty"`

	// MatchNames is a setting.
	//
	// +optional
	MatchNames []string `json:"matchNames,omitempty"`
}

// ObjectReference holds settings.
type ObjectReference struct {
	// Group is a setting.
	//
	// +kubebuilder:validation:Enum="monitoring.coreos.com"
	// +kubebuilder:default:="monitoring.coreos.com"
	// +optional
	Group string `json:"group,omitempty"`

	// Name is a setting.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Namespace is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Namespace string `json:"namespace"`

	// Resource is a setting.
	//
	// +kubebuilder:validation:Enum=prometheusrules;servicemonitors;podmonitors;probes;scrapeconfigs
	// +required
	Resource string `json:"resource"`
}

package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// KubernetesRole is an enumeration.
//
// +kubebuilder:validation:Enum=Pod;Endpoints;Ingress;Service;Node;EndpointSlice
type KubernetesRole string

// Values of KubernetesRole.
const (
	KubernetesRolePod           KubernetesRole = "Pod"
	KubernetesRoleEndpoints     KubernetesRole = "Endpoints"
	KubernetesRoleIngress       KubernetesRole = "Ingress"
	KubernetesRoleService       KubernetesRole = "Service"
	KubernetesRoleNode          KubernetesRole = "Node"
	KubernetesRoleEndpointSlice KubernetesRole = "EndpointSlice"
)

// KubernetesSDConfig holds settings.
type KubernetesSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// APIServer is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	APIServer string `json:"apiServer,omitempty"`

	// AttachMetadata is a setting.
	//
	// +optional
	AttachMetadata *monitoringv1.AttachMetadata `json:"attachMetadata,omitempty"`

	// Namespaces is a setting.
	//
	// +optional
	Namespaces *NamespaceDiscovery `json:"namespaces,omitempty"`

	// Role is a setting.
	//
	// +required
	Role KubernetesRole `json:"role"`

	// Selectors is a setting.
	//
	// +listType=map
	// +listMapKey=role
	// +optional
	Selectors []K8SSelectorConfig `json:"selectors,omitempty"`
}

// NamespaceDiscovery holds settings.
type NamespaceDiscovery struct {
	// Names is a setting.
	//
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// OwnNamespace is a setting.
	//
	// +optional
	OwnNamespace *bool `json:"ownNamespace,omitempty"`
}

// K8SSelectorConfig holds settings.
type K8SSelectorConfig struct {
	// Field is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Field string `json:"field,omitempty"`

	// Label is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Label string `json:"label,omitempty"`

	// Role is a setting.
	//
	// +required
	Role KubernetesRole `json:"role"`
}

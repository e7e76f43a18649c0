package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// KubernetesRole is the kind of object that becomes targets. EndpointSlice needs Prometheus 2.21.0.
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

// KubernetesSDConfig watches objects of a Kubernetes cluster.
type KubernetesSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// URL of the API server. Empty means the cluster Prometheus runs in, with its service account.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	APIServer string `json:"apiServer,omitempty"`

	// Metadata to add to targets of the roles Pod, Endpoints and EndpointSlice; dropped for other roles.
	//
	// +optional
	AttachMetadata *monitoringv1.AttachMetadata `json:"attachMetadata,omitempty"`

	// Namespaces to look in. Unset means all.
	//
	// +optional
	Namespaces *NamespaceDiscovery `json:"namespaces,omitempty"`

	// Kind of object that becomes targets.
	//
	// +required
	Role KubernetesRole `json:"role"`

	// Selectors the API server filters objects by, at most one per kind (since Prometheus 2.17.0).
	//
	// +listType=map
	// +listMapKey=role
	// +optional
	Selectors []K8SSelectorConfig `json:"selectors,omitempty"`
}

// NamespaceDiscovery is a choice of namespaces.
type NamespaceDiscovery struct {
	// Names of namespaces.
	//
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// Whether the namespace Prometheus runs in is chosen too. Not together with `apiServer`.
	//
	// +optional
	OwnNamespace *bool `json:"ownNamespace,omitempty"`
}

// K8SSelectorConfig limits the objects of one kind.
type K8SSelectorConfig struct {
	// Field selector.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Field string `json:"field,omitempty"`

	// Label selector.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Label string `json:"label,omitempty"`

	// Kind of object. It must be one that the role of the discovery watches.
	//
	// +required
	Role KubernetesRole `json:"role"`
}

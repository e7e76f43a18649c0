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

// KubernetesSDConfig watches objects of a Kubernetes cluster with the service account of Prometheus, which needs
// to list and watch them.
type KubernetesSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// URL of the API server. Empty means the cluster Prometheus runs in; credentials, TLS and proxy settings are
	// an error then.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	APIServer string `json:"apiServer,omitempty"`

	// Metadata to add to targets: of the node, for the role Pod since Prometheus 2.35.0, Endpoints and
	// EndpointSlice since 2.37.0; left out for others.
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

	// Selectors the API server filters objects by, at most one per kind (since Prometheus 2.17.0; left out
	// before).
	//
	// +listType=map
	// +listMapKey=role
	// +optional
	Selectors []K8SSelectorConfig `json:"selectors,omitempty"`
}

// NamespaceDiscovery is a choice of namespaces.
type NamespaceDiscovery struct {
	// Names of namespaces. Empty means all, unless `ownNamespace` is true.
	//
	// +listType=set
	// +optional
	Names []string `json:"names,omitempty"`

	// Whether the namespace Prometheus runs in is chosen too (since Prometheus 2.33.0). Together with `apiServer`
	// it rejects the object. Unset means false.
	//
	// +optional
	OwnNamespace *bool `json:"ownNamespace,omitempty"`
}

// K8SSelectorConfig limits the objects of one kind.
type K8SSelectorConfig struct {
	// Field selector, such as `spec.nodeName=a`. One that does not parse rejects the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Field string `json:"field,omitempty"`

	// Label selector, such as `app=web,tier!=test`. One that does not parse rejects the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Label string `json:"label,omitempty"`

	// Kind of object. It must be one that the role of the discovery watches: its own, and for Endpoints and
	// EndpointSlice also Pod and Service. Another one rejects the object.
	//
	// +required
	Role KubernetesRole `json:"role"`
}

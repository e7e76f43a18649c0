package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TritonRole is the kind of Triton object that becomes targets. CN (compute nodes) needs Prometheus 2.19.0.
//
// +kubebuilder:validation:Enum=Container;CN
type TritonRole string

// Values of TritonRole.
const (
	TritonRoleContainer TritonRole = "Container"
	TritonRoleCN        TritonRole = "CN"
)

// TritonSDConfig asks a Triton Container Monitor for containers or compute nodes, over https and with the client
// certificate of `tlsConfig`. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.groups) || !has(self.role) || self.role != 'CN'",message="groups can only be used with the role Container"
type TritonSDConfig struct {
	// Account to discover targets with.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Account string `json:"account"`

	// Domain that is appended to the ID of a container or node to get its address.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	DNSSuffix string `json:"dnsSuffix"`

	// Host of the discovery service, without a scheme.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Endpoint string `json:"endpoint"`

	// Groups to return containers of (since Prometheus 2.5.0). Empty means all. Not with the role CN.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Groups []string `json:"groups,omitempty"`

	// Port of the discovery service, and port to scrape the discovered addresses at. Unset means 9163.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// Kind of object that becomes targets. Empty means Container.
	//
	// +optional
	Role TritonRole `json:"role,omitempty"`

	// TLS settings of the client. Its certificate is what the service authenticates.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// Version of the discovery API. Unset means 1.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	Version *int32 `json:"version,omitempty"`
}

package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// DockerSwarmRole is an enumeration.
//
// +kubebuilder:validation:Enum=Services;Tasks;Nodes
type DockerSwarmRole string

// Values of DockerSwarmRole.
const (
	DockerSwarmRoleServices DockerSwarmRole = "Services"
	DockerSwarmRoleTasks    DockerSwarmRole = "Tasks"
	DockerSwarmRoleNodes    DockerSwarmRole = "Nodes"
)

// Filter holds settings.
type Filter struct {
	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Values is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Values []string `json:"values"`
}

// DockerSDConfig holds settings.
type DockerSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Filters is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// Host is a setting.
	//
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9+.-]*://.+$`
	// +kubebuilder:validation:MinLength=1
	// +required
	Host string `json:"host"`

	// HostNetworkingHost is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	HostNetworkingHost string `json:"hostNetworkingHost,omitempty"`

	// MatchFirstNetwork is a setting.
	//
	// +optional
	MatchFirstNetwork *bool `json:"matchFirstNetwork,omitempty"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// DockerSwarmSDConfig holds settings.
type DockerSwarmSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Filters is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// Host is a setting.
	//
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9+.-]*://.+$`
	// +required
	Host string `json:"host"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Role is a setting.
	//
	// +required
	Role DockerSwarmRole `json:"role"`
}

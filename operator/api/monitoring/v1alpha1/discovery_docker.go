package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// DockerSwarmRole is the kind of Swarm object that becomes targets.
//
// +kubebuilder:validation:Enum=Services;Tasks;Nodes
type DockerSwarmRole string

// Values of DockerSwarmRole.
const (
	DockerSwarmRoleServices DockerSwarmRole = "Services"
	DockerSwarmRoleTasks    DockerSwarmRole = "Tasks"
	DockerSwarmRoleNodes    DockerSwarmRole = "Nodes"
)

// Filter is one filter of an API: a name and the values that pass.
type Filter struct {
	// Name of the filter.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Values that pass.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Values []string `json:"values"`
}

// DockerSDConfig asks a Docker daemon for containers (since Prometheus 2.27.0).
type DockerSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Filters of the API, such as `label`, by which it returns only some containers. Names must be unique.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// URL of the daemon: `unix:///var/run/docker.sock`, `tcp://host:2375` or `https://host:2376`.
	//
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9+.-]*://.+$`
	// +kubebuilder:validation:MinLength=1
	// +required
	Host string `json:"host"`

	// Host to scrape containers in host networking at. Empty means `localhost`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	HostNetworkingHost string `json:"hostNetworkingHost,omitempty"`

	// Whether a container with several networks becomes one target only, in the network whose name sorts first
	// (since Prometheus 2.54.1; an older one rejects the object). Unset means true.
	//
	// +optional
	MatchFirstNetwork *bool `json:"matchFirstNetwork,omitempty"`

	// Port to scrape containers without a published port at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// DockerSwarmSDConfig asks a Docker Swarm for services, tasks or nodes (since Prometheus 2.20.0; an older one
// rejects the object).
type DockerSwarmSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Filters of the API, such as `label`, by which it returns only some objects. Names must be unique.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// URL of the daemon of a manager: `unix:///var/run/docker.sock`, `tcp://host:2375` or `https://host:2376`.
	//
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9+.-]*://.+$`
	// +required
	Host string `json:"host"`

	// Port to scrape tasks and services without a published port, and nodes, at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Kind of object that becomes targets.
	//
	// +required
	Role DockerSwarmRole `json:"role"`
}

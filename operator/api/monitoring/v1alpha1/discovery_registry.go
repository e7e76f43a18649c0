package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ConsulSDConfig asks a Consul agent for services.
type ConsulSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether answers may come from a server that is not the leader. Unset means true.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Datacenter to ask about. Empty means the agent's.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Datacenter string `json:"datacenter,omitempty"`

	// Filter expression on services of the catalog (since Prometheus 3.0.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Filter string `json:"filter,omitempty"`

	// Filter expression on health checks (since Prometheus 3.11.2; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	HealthFilter string `json:"healthFilter,omitempty"`

	// Namespace to ask about (since Prometheus 2.28.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Metadata a node must have.
	//
	// +mapType=atomic
	// +optional
	NodeMeta map[string]string `json:"nodeMeta,omitempty"`

	// Admin partition to ask about (since Prometheus 2.40.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Partition string `json:"partition,omitempty"`

	// Path prefix of the API (since Prometheus 2.45.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Protocol of the API. Empty means http.
	//
	// +optional
	Scheme monitoringv1.Scheme `json:"scheme,omitempty"`

	// Host and optional port of the agent.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Server string `json:"server"`

	// Services to return. Empty means all.
	//
	// +listType=set
	// +optional
	Services []string `json:"services,omitempty"`

	// Text between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`

	// Tags a service must have, all of them.
	//
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// Secret key with the ACL token.
	//
	// +optional
	TokenRef *corev1.SecretKeySelector `json:"tokenRef,omitempty"`
}

// EurekaSDConfig asks a Eureka registry for instances.
type EurekaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the registry.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// NomadSDConfig asks a Nomad cluster for services.
type NomadSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether answers may come from a server that is not the leader. Unset means true.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Namespace to ask about. Empty means `default`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region to ask about. Empty means `global`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// URL of the API.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`

	// Text between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`
}

// KumaSDConfig asks a Kuma control plane for proxies.
type KumaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Identity to present (since Prometheus 2.50.0; an error before).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientID,omitempty"`

	// How long a request waits for changes. Empty means 2m.
	//
	// +optional
	FetchTimeout monitoringv1.Duration `json:"fetchTimeout,omitempty"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the monitoring assignment service.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// PuppetDBSDConfig asks a PuppetDB for resources.
type PuppetDBSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether parameters of the resources become labels. They can hold secrets.
	//
	// +optional
	IncludeParameters *bool `json:"includeParameters,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Query in the Puppet Query Language.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Query string `json:"query"`

	// Time between two refreshes of the target list. Empty means the server's default.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the API.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

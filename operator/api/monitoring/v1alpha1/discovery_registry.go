package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ConsulSDConfig asks a Consul agent for services of the catalog.
type ConsulSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether answers may come from a server that is not the leader. Unset means true.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Datacenter to ask about. Empty means the one of the agent.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Datacenter string `json:"datacenter,omitempty"`

	// Filter expression on services of the catalog, such as `"web" in ServiceTags` (since Prometheus 3.0.0; an
	// older one rejects the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Filter string `json:"filter,omitempty"`

	// Filter expression on health checks (since Prometheus 3.11.2; an older one rejects the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	HealthFilter string `json:"healthFilter,omitempty"`

	// Namespace of Consul Enterprise to ask about (since Prometheus 2.28.0; an older one rejects the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Metadata a node must have, all of it.
	//
	// +mapType=atomic
	// +optional
	NodeMeta map[string]string `json:"nodeMeta,omitempty"`

	// Admin partition of Consul Enterprise to ask about (since Prometheus 2.40.0).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Partition string `json:"partition,omitempty"`

	// Path in front of the API, where Consul is behind a gateway (since Prometheus 2.45.0; an older one rejects
	// the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// Least time between two answers that are taken from one watch, such as `30s`; more than zero. Empty means
	// 30s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Protocol of the API. Empty means http.
	//
	// +optional
	Scheme monitoringv1.Scheme `json:"scheme,omitempty"`

	// Host of the agent as `host` or `host:port`, without a protocol.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Server string `json:"server"`

	// Names of services to return. Empty means all.
	//
	// +listType=set
	// +optional
	Services []string `json:"services,omitempty"`

	// Text around and between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`

	// Tags a service must have, all of them.
	//
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// Secret key with the ACL token. Unset means the token of the agent. Not together with `authorization` or
	// `oauth2`.
	//
	// +optional
	TokenRef *corev1.SecretKeySelector `json:"tokenRef,omitempty"`
}

// EurekaSDConfig asks a Eureka registry for instances (since Prometheus 2.21.0).
type EurekaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Time between two refreshes of the target list, such as `30s`; more than zero. Empty means 30s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the registry with its path, such as `http://eureka:8761/eureka`; `/apps` is added.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// NomadSDConfig asks a Nomad cluster for services (since Prometheus 2.37.0).
type NomadSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether answers may come from a server that is not the leader. Unset means true.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Namespace of Nomad to ask about. Empty means `default`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region of Nomad to ask about. Empty means `global`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// URL of the API with a host, such as `http://nomad:4646`.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`

	// Text around and between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`
}

// KumaSDConfig asks a Kuma control plane for data plane proxies (since Prometheus 2.29.0).
type KumaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Identity to present (since Prometheus 2.50.0; an older one rejects the object). Empty means the name of the
	// pod.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientID,omitempty"`

	// How long one request waits for changes, such as `2m`. Empty means 2m.
	//
	// +optional
	FetchTimeout monitoringv1.Duration `json:"fetchTimeout,omitempty"`

	// Time between two requests, such as `15s`; more than zero. Empty means 15s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the monitoring assignment service with a host, such as `http://kuma-control-plane:5676`.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// PuppetDBSDConfig asks a PuppetDB for resources (since Prometheus 2.31.0; an older one rejects the object).
type PuppetDBSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Whether parameters of the resources become labels. They can contain secrets, which are then visible
	// to all who may see targets. Unset means false.
	//
	// +optional
	IncludeParameters *bool `json:"includeParameters,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Query in the Puppet Query Language that returns resources, such as `resources { type = "Class" }`.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Query string `json:"query"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL of the PuppetDB with a host; the path of the API is added.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

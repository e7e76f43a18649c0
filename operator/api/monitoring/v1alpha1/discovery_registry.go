package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ConsulSDConfig holds settings.
type ConsulSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// AllowStale is a setting.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Datacenter is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Datacenter string `json:"datacenter,omitempty"`

	// Filter is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Filter string `json:"filter,omitempty"`

	// HealthFilter is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	HealthFilter string `json:"healthFilter,omitempty"`

	// Namespace is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// NodeMeta is a setting.
	//
	// +mapType=atomic
	// +optional
	NodeMeta map[string]string `json:"nodeMeta,omitempty"`

	// Partition is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Partition string `json:"partition,omitempty"`

	// PathPrefix is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Scheme is a setting.
	//
	// +optional
	Scheme monitoringv1.Scheme `json:"scheme,omitempty"`

	// Server is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Server string `json:"server"`

	// Services is a setting.
	//
	// +listType=set
	// +optional
	Services []string `json:"services,omitempty"`

	// TagSeparator is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`

	// Tags is a setting.
	//
	// +listType=set
	// +optional
	Tags []string `json:"tags,omitempty"`

	// TokenRef is a setting.
	//
	// +optional
	TokenRef *corev1.SecretKeySelector `json:"tokenRef,omitempty"`
}

// EurekaSDConfig holds settings.
type EurekaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Server is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// NomadSDConfig holds settings.
type NomadSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// AllowStale is a setting.
	//
	// +optional
	AllowStale *bool `json:"allowStale,omitempty"`

	// Namespace is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// Server is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`

	// TagSeparator is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`
}

// KumaSDConfig holds settings.
type KumaSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// ClientID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ClientID string `json:"clientID,omitempty"`

	// FetchTimeout is a setting.
	//
	// +optional
	FetchTimeout monitoringv1.Duration `json:"fetchTimeout,omitempty"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Server is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	Server string `json:"server"`
}

// PuppetDBSDConfig holds settings.
type PuppetDBSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// IncludeParameters is a setting.
	//
	// +optional
	IncludeParameters *bool `json:"includeParameters,omitempty"`

	// Port is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Query is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Query string `json:"query"`

	// RefreshInterval is a setting.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +required
	URL string `json:"url"`
}

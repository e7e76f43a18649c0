package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPConfig holds settings.
type HTTPConfig struct {
	monitoringv1.ProxyConfig `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// BearerTokenSecret is a setting.
	//
	// +optional
	BearerTokenSecret *SecretKeySelector `json:"bearerTokenSecret,omitempty"`

	// EnableHTTP2 is a setting.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHttp2,omitempty"`

	// FollowRedirects is a setting.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// ProxyURLOriginal is a setting.
	//
	// +optional
	ProxyURLOriginal string `json:"proxyURL,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// SecretKeySelector holds settings.
type SecretKeySelector struct {
	// Key is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// KeyValue holds settings.
type KeyValue struct {
	// Key is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Value is a setting.
	//
	// +required
	Value string `json:"value"`
}

package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPTransport holds settings.
type HTTPTransport struct {
	monitoringv1.ProxyConfig `json:",inline"`

	// EnableHTTP2 is a setting.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// FollowRedirects is a setting.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPCredentials holds settings.
type HTTPCredentials struct {
	// Authorization is a setting.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`
}

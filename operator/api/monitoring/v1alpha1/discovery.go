package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPTransport is how a service discovery connects to its HTTP API.
type HTTPTransport struct {
	monitoringv1.ProxyConfig `json:",inline"`

	// Whether to speak HTTP/2 if the server does. Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// Whether to follow redirects. Unset means true.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPCredentials is how a service discovery authenticates at its HTTP API. At most one of the fields may be
// set.
type HTTPCredentials struct {
	// Authorization header to send.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`
}

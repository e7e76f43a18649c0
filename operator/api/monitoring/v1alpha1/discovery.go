package v1alpha1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// PositiveDuration is a monitoringv1.Duration of more than zero: a refresh that never waits would keep the server from
// starting.
//
// +kubebuilder:validation:Pattern=`^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self.matches('[1-9]')",message="must be more than 0"
type PositiveDuration string

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

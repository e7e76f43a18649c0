package v1beta1

import (
	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HTTPConfig is the HTTP client of a receiver. At most one kind of authentication may be set; two reject the
// object.
type HTTPConfig struct {
	monitoringv1.ProxyConfig `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// Secret key with a bearer token. Deprecated: use `authorization`.
	//
	// +optional
	BearerTokenSecret *SecretKeySelector `json:"bearerTokenSecret,omitempty"`

	// Whether to speak HTTP/2 if the server does (since Alertmanager 0.25.0). Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHttp2,omitempty"`

	// Whether to follow redirects (since Alertmanager 0.22.0). Unset means true.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// URL of the proxy. It wins over `proxyUrl`. Deprecated: use `proxyUrl`.
	//
	// +optional
	ProxyURLOriginal string `json:"proxyURL,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// SecretKeySelector names a key of a Secret in the same namespace.
type SecretKeySelector struct {
	// Key in the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Name of the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// KeyValue is a name with a value.
type KeyValue struct {
	// Name: a header, a detail or a field of the receiver.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Key string `json:"key"`

	// Value; it may be a template.
	//
	// +required
	Value string `json:"value"`
}

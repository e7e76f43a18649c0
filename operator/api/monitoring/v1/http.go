package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Scheme is the protocol of a request. The letter case does not matter.
//
// +kubebuilder:validation:Enum=http;https;HTTP;HTTPS
type Scheme string

// Values of Scheme.
const (
	SchemeHTTP  Scheme = "http"
	SchemeHTTPS Scheme = "https"
)

// ProxyConfig tells which proxy requests go through. `proxyFromEnvironment` excludes `proxyUrl` and `noProxy`;
// the other fields need one of the first two.
type ProxyConfig struct {
	// Comma-separated hosts, domains and networks that are reached without the proxy (since Prometheus 2.43.0,
	// Alertmanager 0.26.0).
	//
	// +optional
	NoProxy *string `json:"noProxy,omitempty"`

	// Headers to send to the proxy with CONNECT requests, each with its values from Secrets (since Prometheus
	// 2.43.0, Alertmanager 0.26.0).
	//
	// +mapType=atomic
	// +optional
	ProxyConnectHeader map[string][]corev1.SecretKeySelector `json:"proxyConnectHeader,omitempty"`

	// Whether to take the proxy from the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the container (since
	// Prometheus 2.43.0, Alertmanager 0.26.0).
	//
	// +optional
	ProxyFromEnvironment *bool `json:"proxyFromEnvironment,omitempty"`

	// URL of the proxy.
	//
	// +kubebuilder:validation:Pattern=`^(http|https|socks5)://.+$`
	// +optional
	ProxyURL string `json:"proxyUrl,omitempty"`
}

// HTTPConfigWithoutTLS is how an HTTP client authenticates and behaves. At most one kind of authentication may
// be set.
type HTTPConfigWithoutTLS struct {
	// Authorization header to send.
	//
	// +optional
	Authorization *SafeAuthorization `json:"authorization,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// Secret key with a bearer token. Deprecated: use `authorization`.
	//
	// +optional
	BearerTokenSecret *corev1.SecretKeySelector `json:"bearerTokenSecret,omitempty"`

	// Whether to speak HTTP/2 if the server does (since Prometheus 2.35.0). Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHttp2,omitempty"`

	// Whether to follow redirects (since Prometheus 2.26.0). Unset means true.
	//
	// +optional
	FollowRedirects *bool `json:"followRedirects,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`
}

// HTTPConfig is an HTTP client with TLS material from Secrets and ConfigMaps.
type HTTPConfig struct {
	HTTPConfigWithoutTLS `json:",inline"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPConfigWithProxy is an HTTPConfig that may go through a proxy.
type HTTPConfigWithProxy struct {
	HTTPConfig  `json:",inline"`
	ProxyConfig `json:",inline"`
}

// HTTPConfigWithTLSFiles is an HTTP client with TLS material from Secrets, ConfigMaps or files.
type HTTPConfigWithTLSFiles struct {
	HTTPConfigWithoutTLS `json:",inline"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPConfigWithProxyAndTLSFiles is an HTTPConfigWithTLSFiles that may go through a proxy.
type HTTPConfigWithProxyAndTLSFiles struct {
	HTTPConfigWithTLSFiles `json:",inline"`
	ProxyConfig            `json:",inline"`
}

package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Scheme is an enumeration.
//
// +kubebuilder:validation:Enum=http;https;HTTP;HTTPS
type Scheme string

// Values of Scheme.
const (
	SchemeHTTP  Scheme = "http"
	SchemeHTTPS Scheme = "https"
)

// ProxyConfig holds settings.
type ProxyConfig struct {
	// NoProxy is a setting.
	//
	// +optional
	NoProxy *string `json:"noProxy,omitempty"`

	// ProxyConnectHeader is a setting.
	//
	// +mapType=atomic
	// +optional
	ProxyConnectHeader map[string][]corev1.SecretKeySelector `json:"proxyConnectHeader,omitempty"`

	// ProxyFromEnvironment is a setting.
	//
	// +optional
	ProxyFromEnvironment *bool `json:"proxyFromEnvironment,omitempty"`

	// ProxyURL is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(http|https|socks5)://.+$`
	// +optional
	ProxyURL string `json:"proxyUrl,omitempty"`
}

// HTTPConfigWithoutTLS holds settings.
type HTTPConfigWithoutTLS struct {
	// Authorization is a setting.
	//
	// +optional
	Authorization *SafeAuthorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// BearerTokenSecret is a setting.
	//
	// +optional
	BearerTokenSecret *corev1.SecretKeySelector `json:"bearerTokenSecret,omitempty"`

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
	OAuth2 *OAuth2 `json:"oauth2,omitempty"`
}

// HTTPConfig holds settings.
type HTTPConfig struct {
	HTTPConfigWithoutTLS `json:",inline"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *SafeTLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPConfigWithProxy holds settings.
type HTTPConfigWithProxy struct {
	HTTPConfig  `json:",inline"`
	ProxyConfig `json:",inline"`
}

// HTTPConfigWithTLSFiles holds settings.
type HTTPConfigWithTLSFiles struct {
	HTTPConfigWithoutTLS `json:",inline"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// HTTPConfigWithProxyAndTLSFiles holds settings.
type HTTPConfigWithProxyAndTLSFiles struct {
	HTTPConfigWithTLSFiles `json:",inline"`
	ProxyConfig            `json:",inline"`
}

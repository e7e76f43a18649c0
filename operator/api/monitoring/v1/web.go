package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// WebConfigFileFields is the web configuration file of the HTTP server (since Prometheus 2.24.0, Alertmanager
// 0.22.0).
type WebConfigFileFields struct {
	// HTTP settings of the server.
	//
	// +optional
	HTTPConfig *WebHTTPConfig `json:"httpConfig,omitempty"`

	// TLS settings of the server. Unset means plain HTTP.
	//
	// +optional
	TLSConfig *WebTLSConfig `json:"tlsConfig,omitempty"`
}

// PrometheusWebSpec is the HTTP server of Prometheus.
type PrometheusWebSpec struct {
	WebConfigFileFields `json:",inline"`

	// How many connections may be open at a time. Unset means the server's default.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// Title of the pages (since Prometheus 2.6.0).
	//
	// +optional
	PageTitle *string `json:"pageTitle,omitempty"`
}

// WebTLSConfig is the server side of TLS. A certificate (`cert` or `certFile`) and a key (`keySecret` or
// `keyFile`) are needed.
type WebTLSConfig struct {
	// Certificate of the server.
	//
	// +optional
	Cert SecretOrConfigMap `json:"cert,omitempty"`

	// Path of the certificate. Not together with `cert`.
	//
	// +optional
	CertFile string `json:"certFile,omitempty"`

	// Names of cipher suites to offer up to TLS 1.2, as Go spells them. Unset means Go's choice.
	//
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`

	// What is asked of clients, as Go's tls.ClientAuthType spells it. Empty means NoClientCert.
	//
	// +optional
	ClientAuthType string `json:"clientAuthType,omitempty"`

	// Path of the certificate authority of client certificates. Not together with `client_ca`.
	//
	// +optional
	ClientCAFile string `json:"clientCAFile,omitempty"`

	// Certificate authority of client certificates.
	//
	// +optional
	ClientCA SecretOrConfigMap `json:"client_ca,omitempty"`

	// Names of elliptic curves to offer, most preferred first. Unset means Go's choice.
	//
	// +optional
	CurvePreferences []string `json:"curvePreferences,omitempty"`

	// Path of the private key. Not together with `keySecret`.
	//
	// +optional
	KeyFile string `json:"keyFile,omitempty"`

	// Secret key with the private key.
	//
	// +optional
	KeySecret *corev1.SecretKeySelector `json:"keySecret,omitempty"`

	// Highest TLS version to accept, such as `TLS13`. Empty means the highest there is.
	//
	// +optional
	MaxVersion string `json:"maxVersion,omitempty"`

	// Lowest TLS version to accept, such as `TLS12`, which is also what empty means.
	//
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// Whether the order of `cipherSuites` wins over the client's. Go has ignored it since 1.17.
	//
	// +optional
	PreferServerCipherSuites *bool `json:"preferServerCipherSuites,omitempty"`
}

// WebHTTPConfig is what the HTTP server offers and adds to answers.
type WebHTTPConfig struct {
	// Headers to add to every answer.
	//
	// +optional
	Headers *WebHTTPHeaders `json:"headers,omitempty"`

	// Whether HTTP/2 is offered; it needs TLS. Unset means true.
	//
	// +optional
	HTTP2 *bool `json:"http2,omitempty"`
}

// WebHTTPHeaders are security headers of every answer. An empty value leaves the header out.
type WebHTTPHeaders struct {
	// Value of Content-Security-Policy.
	//
	// +optional
	ContentSecurityPolicy string `json:"contentSecurityPolicy,omitempty"`

	// Value of Strict-Transport-Security. Check that no client needs plain HTTP on this host before setting it.
	//
	// +optional
	StrictTransportSecurity string `json:"strictTransportSecurity,omitempty"`

	// Value of X-Content-Type-Options.
	//
	// +kubebuilder:validation:Enum="";NoSniff
	// +optional
	XContentTypeOptions string `json:"xContentTypeOptions,omitempty"`

	// Value of X-Frame-Options.
	//
	// +kubebuilder:validation:Enum="";Deny;SameOrigin
	// +optional
	XFrameOptions string `json:"xFrameOptions,omitempty"`

	// Value of X-XSS-Protection.
	//
	// +optional
	XXSSProtection string `json:"xXSSProtection,omitempty"`
}

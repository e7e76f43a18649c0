package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// WebConfigFileFields holds settings.
type WebConfigFileFields struct {
	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *WebHTTPConfig `json:"httpConfig,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *WebTLSConfig `json:"tlsConfig,omitempty"`
}

// PrometheusWebSpec holds settings.
type PrometheusWebSpec struct {
	WebConfigFileFields `json:",inline"`

	// MaxConnections is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// PageTitle is a setting.
	//
	// +optional
	PageTitle *string `json:"pageTitle,omitempty"`
}

// WebTLSConfig holds settings.
type WebTLSConfig struct {
	// Cert is a setting.
	//
	// +optional
	Cert SecretOrConfigMap `json:"cert,omitempty"`

	// CertFile is a setting.
	//
	// +optional
	CertFile string `json:"certFile,omitempty"`

	// CipherSuites is a setting.
	//
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`

	// ClientAuthType is a setting.
	//
	// +optional
	ClientAuthType string `json:"clientAuthType,omitempty"`

	// ClientCAFile is a setting.
	//
	// +optional
	ClientCAFile string `json:"clientCAFile,omitempty"`

	// ClientCA is a setting.
	//
	// +optional
	ClientCA SecretOrConfigMap `json:"client_ca,omitempty"`

	// CurvePreferences is a setting.
	//
	// +optional
	CurvePreferences []string `json:"curvePreferences,omitempty"`

	// KeyFile is a setting.
	//
	// +optional
	KeyFile string `json:"keyFile,omitempty"`

	// KeySecret is a setting.
	//
	// +optional
	KeySecret *corev1.SecretKeySelector `json:"keySecret,omitempty"`

	// MaxVersion is a setting.
	//
	// +optional
	MaxVersion string `json:"maxVersion,omitempty"`

	// MinVersion is a setting.
	//
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// PreferServerCipherSuites is a setting.
	//
	// +optional
	PreferServerCipherSuites *bool `json:"preferServerCipherSuites,omitempty"`
}

// WebHTTPConfig holds settings.
type WebHTTPConfig struct {
	// Headers is a setting.
	//
	// +optional
	Headers *WebHTTPHeaders `json:"headers,omitempty"`

	// HTTP2 is a setting.
	//
	// +optional
	HTTP2 *bool `json:"http2,omitempty"`
}

// WebHTTPHeaders holds settings.
type WebHTTPHeaders struct {
	// ContentSecurityPolicy is a setting.
	//
	// +optional
	ContentSecurityPolicy string `json:"contentSecurityPolicy,omitempty"`

	// StrictTransportSecurity is a setting.
	//
	// +optional
	StrictTransportSecurity string `json:"strictTransportSecurity,omitempty"`

	// XContentTypeOptions is a setting.
	//
	// +kubebuilder:validation:Enum="";NoSniff
	// +optional
	XContentTypeOptions string `json:"xContentTypeOptions,omitempty"`

	// XFrameOptions is a setting.
	//
	// +kubebuilder:validation:Enum="";Deny;SameOrigin
	// +optional
	XFrameOptions string `json:"xFrameOptions,omitempty"`

	// XXSSProtection is a setting.
	//
	// +optional
	XXSSProtection string `json:"xXSSProtection,omitempty"`
}

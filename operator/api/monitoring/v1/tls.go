package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// TLSVersion is an enumeration.
//
// +kubebuilder:validation:Enum=TLS10;TLS11;TLS12;TLS13
type TLSVersion string

// Values of TLSVersion.
const (
	TLSVersion10 TLSVersion = "TLS10"
	TLSVersion11 TLSVersion = "TLS11"
	TLSVersion12 TLSVersion = "TLS12"
	TLSVersion13 TLSVersion = "TLS13"
)

// SafeTLSConfig holds settings.
type SafeTLSConfig struct {
	// CA is a setting.
	//
	// +optional
	CA SecretOrConfigMap `json:"ca,omitempty"`

	// Cert is a setting.
	//
	// +optional
	Cert SecretOrConfigMap `json:"cert,omitempty"`

	// InsecureSkipVerify is a setting.
	//
	// +optional
	InsecureSkipVerify *bool `json:"insecureSkipVerify,omitempty"`

	// KeySecret is a setting.
	//
	// +optional
	KeySecret *corev1.SecretKeySelector `json:"keySecret,omitempty"`

	// MaxVersion is a setting.
	//
	// +optional
	MaxVersion TLSVersion `json:"maxVersion,omitempty"`

	// MinVersion is a setting.
	//
	// +optional
	MinVersion TLSVersion `json:"minVersion,omitempty"`

	// ServerName is a setting.
	//
	// +optional
	ServerName string `json:"serverName,omitempty"`
}

// TLSFilesConfig holds settings.
type TLSFilesConfig struct {
	// CAFile is a setting.
	//
	// +optional
	CAFile string `json:"caFile,omitempty"`

	// CertFile is a setting.
	//
	// +optional
	CertFile string `json:"certFile,omitempty"`

	// KeyFile is a setting.
	//
	// +optional
	KeyFile string `json:"keyFile,omitempty"`
}

// TLSConfig holds settings.
type TLSConfig struct {
	SafeTLSConfig  `json:",inline"`
	TLSFilesConfig `json:",inline"`
}

// GRPCServerTLSConfig holds settings.
type GRPCServerTLSConfig struct {
	TLSConfig `json:",inline"`

	// CipherSuites is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`

	// Curves is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	Curves []string `json:"curves,omitempty"`
}

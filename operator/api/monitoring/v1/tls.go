package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// TLSVersion is a version of the TLS protocol.
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

// SafeTLSConfig is the client side of a TLS connection, with all material from Secrets and ConfigMaps. `cert`
// and `keySecret` go together; one without the other is an error.
type SafeTLSConfig struct {
	// Certificate authority the server's certificate is checked with. Unset means the system's.
	//
	// +optional
	CA SecretOrConfigMap `json:"ca,omitempty"`

	// Client certificate to present.
	//
	// +optional
	Cert SecretOrConfigMap `json:"cert,omitempty"`

	// Whether to accept any certificate of the server. Connections are then open to
	// man-in-the-middle attacks.
	//
	// +optional
	InsecureSkipVerify *bool `json:"insecureSkipVerify,omitempty"`

	// Secret key with the private key of the client certificate.
	//
	// +optional
	KeySecret *corev1.SecretKeySelector `json:"keySecret,omitempty"`

	// Highest TLS version to accept (since Prometheus 2.41.0, Alertmanager 0.25.0). It must not be below
	// `minVersion`.
	//
	// +optional
	MaxVersion TLSVersion `json:"maxVersion,omitempty"`

	// Lowest TLS version to accept (since Prometheus 2.35.0, Alertmanager 0.25.0).
	//
	// +optional
	MinVersion TLSVersion `json:"minVersion,omitempty"`

	// Name the server's certificate must be issued for, if it is not the host that is dialled.
	//
	// +optional
	ServerName string `json:"serverName,omitempty"`
}

// TLSFilesConfig holds paths of TLS material inside the container. A Prometheus that denies file access to monitors
// rejects such monitors.
type TLSFilesConfig struct {
	// Path of the certificate authority. Not together with `ca`.
	//
	// +optional
	CAFile string `json:"caFile,omitempty"`

	// Path of the client certificate. Not together with `cert`.
	//
	// +optional
	CertFile string `json:"certFile,omitempty"`

	// Path of the private key. Not together with `keySecret`.
	//
	// +optional
	KeyFile string `json:"keyFile,omitempty"`
}

// TLSConfig is the client side of a TLS connection, with material from Secrets, ConfigMaps or files of the
// container.
type TLSConfig struct {
	SafeTLSConfig  `json:",inline"`
	TLSFilesConfig `json:",inline"`
}

// GRPCServerTLSConfig is the server side of Thanos' gRPC API. Only the file fields, `minVersion`,
// `cipherSuites` and `curves` have an effect; the others exist because the API has always had them.
type GRPCServerTLSConfig struct {
	TLSConfig `json:",inline"`

	// Names of cipher suites to offer up to TLS 1.2, as Go spells them (since Thanos 0.42.0). Unset means Go's
	// choice.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`

	// Names of elliptic curves to offer, most preferred first (since Thanos 0.42.0). Unset means Go's choice.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	Curves []string `json:"curves,omitempty"`
}

package v1

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// AlertmanagerAPIVersion is the version of Alertmanager's API that alerts are sent to. Prometheus 3 knows only
// v2.
//
// +kubebuilder:validation:Enum=v1;V1;v2;V2
type AlertmanagerAPIVersion string

// Values of AlertmanagerAPIVersion.
const (
	AlertmanagerAPIVersion1 AlertmanagerAPIVersion = "v1"
	AlertmanagerAPIVersion2 AlertmanagerAPIVersion = "v2"
)

// AlertingSpec is where alerts go.
type AlertingSpec struct {
	// Services of the Alertmanagers.
	//
	// +required
	Alertmanagers []AlertmanagerEndpoints `json:"alertmanagers"`
}

// AlertmanagerEndpoints is a Service whose endpoints are all Alertmanagers. At most one kind of authentication
// may be set.
type AlertmanagerEndpoints struct {
	ProxyConfig `json:",inline"`

	// Relabeling of alerts before they are sent to these Alertmanagers (since Prometheus 2.51.0).
	//
	// +optional
	AlertRelabelConfigs []RelabelConfig `json:"alertRelabelings,omitempty"`

	// Version of the API to use (since Prometheus 2.11.0).
	//
	// +optional
	APIVersion AlertmanagerAPIVersion `json:"apiVersion,omitempty"`

	// Authorization header to send.
	//
	// +optional
	Authorization *SafeAuthorization `json:"authorization,omitempty"`

	// User name and password to send (since Prometheus 2.26.0).
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// Path of a file with a bearer token. Deprecated: use `authorization`.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// Whether to speak HTTP/2 if the server does (since Prometheus 2.35.0). Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHttp2,omitempty"`

	// Name of the Service.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Namespace of the Service. Empty means the one of the Prometheus object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Path prefix of the API.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// Name or number of the port of the Service.
	//
	// +required
	Port intstr.IntOrString `json:"port"`

	// Relabeling of the discovered Alertmanagers.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// Protocol to use. Unset means http.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// AWS Signature Version 4 as authentication (since Prometheus 2.48.0).
	//
	// +optional
	Sigv4 *Sigv4 `json:"sigv4,omitempty"`

	// How long sending may take. Empty means the server's default.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

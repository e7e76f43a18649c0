package v1

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// AlertmanagerAPIVersion is an enumeration.
//
// +kubebuilder:validation:Enum=v1;V1;v2;V2
type AlertmanagerAPIVersion string

// Values of AlertmanagerAPIVersion.
const (
	AlertmanagerAPIVersion1 AlertmanagerAPIVersion = "v1"
	AlertmanagerAPIVersion2 AlertmanagerAPIVersion = "v2"
)

// AlertingSpec holds settings.
type AlertingSpec struct {
	// Alertmanagers is a setting.
	//
	// +required
	Alertmanagers []AlertmanagerEndpoints `json:"alertmanagers"`
}

// AlertmanagerEndpoints holds settings.
type AlertmanagerEndpoints struct {
	ProxyConfig `json:",inline"`

	// AlertRelabelConfigs is a setting.
	//
	// +optional
	AlertRelabelConfigs []RelabelConfig `json:"alertRelabelings,omitempty"`

	// APIVersion is a setting.
	//
	// +optional
	APIVersion AlertmanagerAPIVersion `json:"apiVersion,omitempty"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *SafeAuthorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// BearerTokenFile is a setting.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// EnableHTTP2 is a setting.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHttp2,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Namespace is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// PathPrefix is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	PathPrefix string `json:"pathPrefix,omitempty"`

	// Port is a setting.
	//
	// +required
	Port intstr.IntOrString `json:"port"`

	// RelabelConfigs is a setting.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// Scheme is a setting.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// Sigv4 is a setting.
	//
	// +optional
	Sigv4 *Sigv4 `json:"sigv4,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

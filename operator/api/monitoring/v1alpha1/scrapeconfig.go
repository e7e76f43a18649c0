package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ScrapeConfig is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=scrapeconfigs,shortName=scfg
// +kubebuilder:subresource:status
type ScrapeConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec ScrapeConfigSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status monitoringv1.ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// ScrapeConfigList is a list of ScrapeConfig objects.
//
// +kubebuilder:object:root=true
type ScrapeConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ScrapeConfig `json:"items"`
}

// ScrapeConfigSpec holds settings.
//
// +kubebuilder:validation:XValidation:rule="[has(self.basicAuth), has(self.authorization), has(self.oauth2)].filter(x, x).size() <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
type ScrapeConfigSpec struct {
	monitoringv1.ScrapeLimits          `json:",inline"`
	monitoringv1.NativeHistogramConfig `json:",inline"`
	monitoringv1.ProxyConfig           `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// AzureSDConfigs is a setting.
	//
	// +optional
	AzureSDConfigs []AzureSDConfig `json:"azureSDConfigs,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// BodySizeLimit is a setting.
	//
	// +optional
	BodySizeLimit monitoringv1.ByteSize `json:"bodySizeLimit,omitempty"`

	// ConsulSDConfigs is a setting.
	//
	// +optional
	ConsulSDConfigs []ConsulSDConfig `json:"consulSDConfigs,omitempty"`

	// DigitalOceanSDConfigs is a setting.
	//
	// +optional
	DigitalOceanSDConfigs []DigitalOceanSDConfig `json:"digitalOceanSDConfigs,omitempty"`

	// DNSSDConfigs is a setting.
	//
	// +optional
	DNSSDConfigs []DNSSDConfig `json:"dnsSDConfigs,omitempty"`

	// DockerSDConfigs is a setting.
	//
	// +optional
	DockerSDConfigs []DockerSDConfig `json:"dockerSDConfigs,omitempty"`

	// DockerSwarmSDConfigs is a setting.
	//
	// +optional
	DockerSwarmSDConfigs []DockerSwarmSDConfig `json:"dockerSwarmSDConfigs,omitempty"`

	// EC2SDConfigs is a setting.
	//
	// +optional
	EC2SDConfigs []EC2SDConfig `json:"ec2SDConfigs,omitempty"`

	// EnableCompression is a setting.
	//
	// +optional
	EnableCompression *bool `json:"enableCompression,omitempty"`

	// EnableHTTP2 is a setting.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// EurekaSDConfigs is a setting.
	//
	// +optional
	EurekaSDConfigs []EurekaSDConfig `json:"eurekaSDConfigs,omitempty"`

	// FallbackScrapeProtocol is a setting.
	//
	// +optional
	FallbackScrapeProtocol monitoringv1.ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// FileSDConfigs is a setting.
	//
	// +optional
	FileSDConfigs []FileSDConfig `json:"fileSDConfigs,omitempty"`

	// GCESDConfigs is a setting.
	//
	// +optional
	GCESDConfigs []GCESDConfig `json:"gceSDConfigs,omitempty"`

	// HetznerSDConfigs is a setting.
	//
	// +optional
	HetznerSDConfigs []HetznerSDConfig `json:"hetznerSDConfigs,omitempty"`

	// HonorLabels is a setting.
	//
	// +optional
	HonorLabels *bool `json:"honorLabels,omitempty"`

	// HonorTimestamps is a setting.
	//
	// +optional
	HonorTimestamps *bool `json:"honorTimestamps,omitempty"`

	// HTTPSDConfigs is a setting.
	//
	// +optional
	HTTPSDConfigs []HTTPSDConfig `json:"httpSDConfigs,omitempty"`

	// IonosSDConfigs is a setting.
	//
	// +optional
	IonosSDConfigs []IonosSDConfig `json:"ionosSDConfigs,omitempty"`

	// JobName is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	JobName string `json:"jobName,omitempty"`

	// KubernetesSDConfigs is a setting.
	//
	// +optional
	KubernetesSDConfigs []KubernetesSDConfig `json:"kubernetesSDConfigs,omitempty"`

	// KumaSDConfigs is a setting.
	//
	// +optional
	KumaSDConfigs []KumaSDConfig `json:"kumaSDConfigs,omitempty"`

	// LightSailSDConfigs is a setting.
	//
	// +optional
	LightSailSDConfigs []LightSailSDConfig `json:"lightSailSDConfigs,omitempty"`

	// LinodeSDConfigs is a setting.
	//
	// +optional
	LinodeSDConfigs []LinodeSDConfig `json:"linodeSDConfigs,omitempty"`

	// MetricRelabelConfigs is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	MetricRelabelConfigs []monitoringv1.RelabelConfig `json:"metricRelabelings,omitempty"`

	// MetricsPath is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MetricsPath string `json:"metricsPath,omitempty"`

	// NameEscapingScheme is a setting.
	//
	// +optional
	NameEscapingScheme monitoringv1.NameEscapingSchemeOptions `json:"nameEscapingScheme,omitempty"`

	// NameValidationScheme is a setting.
	//
	// +optional
	NameValidationScheme monitoringv1.NameValidationSchemeOptions `json:"nameValidationScheme,omitempty"`

	// NomadSDConfigs is a setting.
	//
	// +optional
	NomadSDConfigs []NomadSDConfig `json:"nomadSDConfigs,omitempty"`

	// OAuth2 is a setting.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// OpenStackSDConfigs is a setting.
	//
	// +optional
	OpenStackSDConfigs []OpenStackSDConfig `json:"openstackSDConfigs,omitempty"`

	// OVHCloudSDConfigs is a setting.
	//
	// +optional
	OVHCloudSDConfigs []OVHCloudSDConfig `json:"ovhcloudSDConfigs,omitempty"`

	// Params is a setting.
	//
	// +mapType=atomic
	// +optional
	Params map[string][]string `json:"params,omitempty"`

	// PuppetDBSDConfigs is a setting.
	//
	// +optional
	PuppetDBSDConfigs []PuppetDBSDConfig `json:"puppetDBSDConfigs,omitempty"`

	// RelabelConfigs is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	RelabelConfigs []monitoringv1.RelabelConfig `json:"relabelings,omitempty"`

	// ScalewaySDConfigs is a setting.
	//
	// +optional
	ScalewaySDConfigs []ScalewaySDConfig `json:"scalewaySDConfigs,omitempty"`

	// Scheme is a setting.
	//
	// +optional
	Scheme monitoringv1.Scheme `json:"scheme,omitempty"`

	// ScrapeClass is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeClass string `json:"scrapeClass,omitempty"`

	// ScrapeInterval is a setting.
	//
	// +optional
	ScrapeInterval monitoringv1.Duration `json:"scrapeInterval,omitempty"`

	// ScrapeProtocols is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	ScrapeProtocols []monitoringv1.ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// ScrapeTimeout is a setting.
	//
	// +optional
	ScrapeTimeout monitoringv1.Duration `json:"scrapeTimeout,omitempty"`

	// StaticConfigs is a setting.
	//
	// +optional
	StaticConfigs []StaticConfig `json:"staticConfigs,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// TrackTimestampsStaleness is a setting.
	//
	// +optional
	TrackTimestampsStaleness *bool `json:"trackTimestampsStaleness,omitempty"`
}

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServiceMonitor is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=servicemonitors,shortName=smon
// +kubebuilder:subresource:status
type ServiceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec ServiceMonitorSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// ServiceMonitorList is a list of ServiceMonitor objects.
//
// +kubebuilder:object:root=true
type ServiceMonitorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ServiceMonitor `json:"items"`
}

// ServiceMonitorSpec holds settings.
type ServiceMonitorSpec struct {
	ScrapeLimits          `json:",inline"`
	NativeHistogramConfig `json:",inline"`

	// AttachMetadata is a setting.
	//
	// +optional
	AttachMetadata *AttachMetadata `json:"attachMetadata,omitempty"`

	// BodySizeLimit is a setting.
	//
	// +optional
	BodySizeLimit ByteSize `json:"bodySizeLimit,omitempty"`

	// Endpoints is a setting.
	//
	// +required
	Endpoints []Endpoint `json:"endpoints"`

	// FallbackScrapeProtocol is a setting.
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// JobLabel is a setting.
	//
	// +optional
	JobLabel string `json:"jobLabel,omitempty"`

	// NamespaceSelector is a setting.
	//
	// +optional
	NamespaceSelector NamespaceSelector `json:"namespaceSelector,omitempty"`

	// PodTargetLabels is a setting.
	//
	// +optional
	PodTargetLabels []string `json:"podTargetLabels,omitempty"`

	// ScrapeClass is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeClass string `json:"scrapeClass,omitempty"`

	// ScrapeProtocols is a setting.
	//
	// +listType=set
	// +optional
	ScrapeProtocols []ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// Selector is a setting.
	//
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// SelectorMechanism is a setting.
	//
	// +optional
	SelectorMechanism SelectorMechanism `json:"selectorMechanism,omitempty"`

	// ServiceDiscoveryRole is a setting.
	//
	// +optional
	ServiceDiscoveryRole ServiceDiscoveryRole `json:"serviceDiscoveryRole,omitempty"`

	// TargetLabels is a setting.
	//
	// +optional
	TargetLabels []string `json:"targetLabels,omitempty"`
}

// Endpoint holds settings.
type Endpoint struct {
	HTTPConfigWithProxyAndTLSFiles `json:",inline"`

	// BearerTokenFile is a setting.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// FilterRunning is a setting.
	//
	// +optional
	FilterRunning *bool `json:"filterRunning,omitempty"`

	// HonorLabels is a setting.
	//
	// +optional
	HonorLabels bool `json:"honorLabels,omitempty"`

	// HonorTimestamps is a setting.
	//
	// +optional
	HonorTimestamps *bool `json:"honorTimestamps,omitempty"`

	// Interval is a setting.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// MetricRelabelConfigs is a setting.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Params is a setting.
	//
	// +optional
	Params map[string][]string `json:"params,omitempty"`

	// Path is a setting.
	//
	// +optional
	Path string `json:"path,omitempty"`

	// Port is a setting.
	//
	// +optional
	Port string `json:"port,omitempty"`

	// RelabelConfigs is a setting.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// Scheme is a setting.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// ScrapeTimeout is a setting.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// TargetPort is a setting.
	//
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`

	// TrackTimestampsStaleness is a setting.
	//
	// +optional
	TrackTimestampsStaleness *bool `json:"trackTimestampsStaleness,omitempty"`
}

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Probe is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=probes,shortName=prb
// +kubebuilder:subresource:status
type Probe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec ProbeSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// ProbeList is a list of Probe objects.
//
// +kubebuilder:object:root=true
type ProbeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Probe `json:"items"`
}

// ProbeSpec holds settings.
type ProbeSpec struct {
	ScrapeLimits          `json:",inline"`
	NativeHistogramConfig `json:",inline"`
	HTTPConfig            `json:",inline"`

	// FallbackScrapeProtocol is a setting.
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// Interval is a setting.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// JobName is a setting.
	//
	// +optional
	JobName string `json:"jobName,omitempty"`

	// MetricRelabelConfigs is a setting.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Module is a setting.
	//
	// +optional
	Module string `json:"module,omitempty"`

	// Params is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=name
	// +optional
	Params []ProbeParam `json:"params,omitempty"`

	// ProberSpec is a setting.
	//
	// +optional
	ProberSpec ProberSpec `json:"prober,omitempty"`

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

	// ScrapeTimeout is a setting.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// Targets is a setting.
	//
	// +optional
	Targets ProbeTargets `json:"targets,omitempty"`
}

// ProberSpec holds settings.
type ProberSpec struct {
	ProxyConfig `json:",inline"`

	// Path is a setting.
	//
	// +kubebuilder:default:="/probe"
	// +optional
	Path string `json:"path,omitempty"`

	// Scheme is a setting.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// URL is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	URL string `json:"url"`
}

// ProbeParam holds settings.
type ProbeParam struct {
	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Values is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Values []string `json:"values,omitempty"`
}

// ProbeTargets holds settings.
type ProbeTargets struct {
	// Ingress is a setting.
	//
	// +optional
	Ingress *ProbeTargetIngress `json:"ingress,omitempty"`

	// StaticConfig is a setting.
	//
	// +optional
	StaticConfig *ProbeTargetStaticConfig `json:"staticConfig,omitempty"`
}

// ProbeTargetStaticConfig holds settings.
type ProbeTargetStaticConfig struct {
	// Labels is a setting.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// RelabelConfigs is a setting.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelingConfigs,omitempty"`

	// Static is a setting.
	//
	// +optional
	Static []string `json:"static,omitempty"`
}

// ProbeTargetIngress holds settings.
type ProbeTargetIngress struct {
	// NamespaceSelector is a setting.
	//
	// +optional
	NamespaceSelector NamespaceSelector `json:"namespaceSelector,omitempty"`

	// RelabelConfigs is a setting.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelingConfigs,omitempty"`

	// Selector is a setting.
	//
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty"`
}

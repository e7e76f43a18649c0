package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Probe describes targets that are checked from outside by a prober such as the blackbox exporter: a fixed
// list, or the hosts of Ingresses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=probes,shortName=prb
// +kubebuilder:subresource:status
type Probe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Decoding          `json:"-"`

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

// ProbeSpec names a prober and the targets it checks.
type ProbeSpec struct {
	ScrapeLimits          `json:",inline"`
	NativeHistogramConfig `json:",inline"`
	HTTPConfig            `json:",inline"`

	// Format to assume if a target answers with an unknown or missing content type (since Prometheus 3.0.0,
	// which otherwise fails such a scrape).
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// Time between two probes. Empty means the `scrapeInterval` of the Prometheus.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// Value of the `job` label. Empty means `probe/<namespace>/<name>`.
	//
	// +optional
	JobName string `json:"jobName,omitempty"`

	// Relabeling of samples before they are stored.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Module of the prober to use, sent as the parameter `module`.
	//
	// +optional
	Module string `json:"module,omitempty"`

	// Further parameters of the request to the prober. `target` is reserved, and `module` if the field of that
	// name is set.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=name
	// +optional
	Params []ProbeParam `json:"params,omitempty"`

	// Address of the prober.
	//
	// +optional
	ProberSpec ProberSpec `json:"prober,omitempty"`

	// Name of a scrape class of the Prometheus. An unknown name rejects the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeClass string `json:"scrapeClass,omitempty"`

	// Formats to ask the target for, most preferred first (since Prometheus 2.49.0).
	//
	// +listType=set
	// +optional
	ScrapeProtocols []ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// How long a scrape may take. It must not be longer than the interval. Empty means the
	// `scrapeTimeout` of the Prometheus.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// Targets to probe. Exactly one kind of target must be set.
	//
	// +optional
	Targets ProbeTargets `json:"targets,omitempty"`
}

// ProberSpec is where the prober listens.
type ProberSpec struct {
	ProxyConfig `json:",inline"`

	// Path of the prober's endpoint.
	//
	// +kubebuilder:default:="/probe"
	// +optional
	Path string `json:"path,omitempty"`

	// Protocol to use. Unset means http.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// Host and optional port of the prober, without a protocol.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	URL string `json:"url"`
}

// ProbeParam is one parameter of the request to the prober.
type ProbeParam struct {
	// Name of the parameter.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Values of the parameter.
	//
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Values []string `json:"values,omitempty"`
}

// ProbeTargets is what to probe.
type ProbeTargets struct {
	// Hosts and paths of Ingresses.
	//
	// +optional
	Ingress *ProbeTargetIngress `json:"ingress,omitempty"`

	// A fixed list.
	//
	// +optional
	StaticConfig *ProbeTargetStaticConfig `json:"staticConfig,omitempty"`
}

// ProbeTargetStaticConfig is a fixed list of targets.
type ProbeTargetStaticConfig struct {
	// Labels to add to all samples of these targets.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Relabeling of targets before they are probed.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelingConfigs,omitempty"`

	// Targets, in the form the prober's module expects.
	//
	// +optional
	Static []string `json:"static,omitempty"`
}

// ProbeTargetIngress selects Ingresses whose hosts and paths are probed.
type ProbeTargetIngress struct {
	// Namespaces to look in. Empty means the namespace of the probe.
	//
	// +optional
	NamespaceSelector NamespaceSelector `json:"namespaceSelector,omitempty"`

	// Relabeling of targets before they are probed.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelingConfigs,omitempty"`

	// Labels of the Ingresses.
	//
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitempty"`
}

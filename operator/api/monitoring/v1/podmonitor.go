package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PodMonitor describes how to scrape a set of pods that need no Service. Prometheus and PrometheusAgent objects
// pick it up by its labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=podmonitors,shortName=pmon
// +kubebuilder:subresource:status
type PodMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Decoding          `json:"-"`

	// Spec is what the user wants.
	//
	// +required
	Spec PodMonitorSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// PodMonitorList is a list of PodMonitor objects.
//
// +kubebuilder:object:root=true
type PodMonitorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []PodMonitor `json:"items"`
}

// PodMonitorSpec selects pods and says how to scrape them.
type PodMonitorSpec struct {
	ScrapeLimits          `json:",inline"`
	NativeHistogramConfig `json:",inline"`

	// Metadata that service discovery adds to targets.
	//
	// +optional
	AttachMetadata *AttachMetadata `json:"attachMetadata,omitempty"`

	// How large an answer may be, uncompressed (since Prometheus 2.28.0).
	//
	// +optional
	BodySizeLimit ByteSize `json:"bodySizeLimit,omitempty"`

	// Format to assume if a target answers with an unknown or missing content type (since Prometheus 3.0.0,
	// which otherwise fails such a scrape).
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// Name of a label of the Service or pod whose value becomes the `job` label. Empty, or absent on the
	// object, means a job named after the Service or the monitor.
	//
	// +optional
	JobLabel string `json:"jobLabel,omitempty"`

	// Namespaces to look in. Empty means the namespace of the monitor.
	//
	// +optional
	NamespaceSelector NamespaceSelector `json:"namespaceSelector,omitempty"`

	// Ports and paths to scrape; each becomes one job.
	//
	// +optional
	PodMetricsEndpoints []PodMetricsEndpoint `json:"podMetricsEndpoints,omitempty"`

	// Labels of the pod that are copied to its samples.
	//
	// +optional
	PodTargetLabels []string `json:"podTargetLabels,omitempty"`

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

	// Labels of the pods. An empty selector matches all pods of the namespaces.
	//
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// Where the selector is applied. Unset means RelabelConfig.
	//
	// +optional
	SelectorMechanism SelectorMechanism `json:"selectorMechanism,omitempty"`
}

// PodMetricsEndpoint is one port and path of the selected pods. The first set of `port`, `portNumber` and
// `targetPort` says which port; without all three every declared port is scraped.
type PodMetricsEndpoint struct {
	HTTPConfigWithProxy `json:",inline"`

	// Whether pods that have ended are left out. Unset means true.
	//
	// +optional
	FilterRunning *bool `json:"filterRunning,omitempty"`

	// Whether labels of a sample win over labels of the target where both have one. Otherwise the sample's
	// label is kept as `exported_<name>`. The Prometheus can force false.
	//
	// +optional
	HonorLabels bool `json:"honorLabels,omitempty"`

	// Whether timestamps in the response are kept (since Prometheus 2.9.0). Unset means true; the Prometheus can
	// force false.
	//
	// +optional
	HonorTimestamps *bool `json:"honorTimestamps,omitempty"`

	// Time between two scrapes. Empty means the `scrapeInterval` of the Prometheus.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// Relabeling of samples before they are stored.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Parameters to add to the query string.
	//
	// +optional
	Params map[string][]string `json:"params,omitempty"`

	// Path of the metrics. Empty means `/metrics`.
	//
	// +optional
	Path string `json:"path,omitempty"`

	// Name of a container port.
	//
	// +optional
	Port string `json:"port,omitempty"`

	// Number of a container port.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	PortNumber *int32 `json:"portNumber,omitempty"`

	// Relabeling of targets before they are scraped. The operator's own steps come first.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// Protocol to use. Unset means http.
	//
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`

	// How long a scrape may take. It must not be longer than the interval. Empty means the
	// `scrapeTimeout` of the Prometheus.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// Name or number of a container port. Deprecated: use `port` or `portNumber`.
	//
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`

	// Whether series with explicit timestamps go stale when they vanish from the answer (since Prometheus
	// 2.48.0).
	//
	// +optional
	TrackTimestampsStaleness *bool `json:"trackTimestampsStaleness,omitempty"`
}

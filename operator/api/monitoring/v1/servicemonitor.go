package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServiceMonitor describes how to scrape the pods behind a set of Services. Prometheus and PrometheusAgent
// objects pick it up by its labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=servicemonitors,shortName=smon
// +kubebuilder:subresource:status
type ServiceMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Decoding          `json:"-"`

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

// ServiceMonitorSpec selects Services and says how to scrape the pods behind them.
type ServiceMonitorSpec struct {
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

	// Ports and paths to scrape; each becomes one job.
	//
	// +required
	Endpoints []Endpoint `json:"endpoints"`

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

	// Labels of the Services. An empty selector matches all Services of the namespaces.
	//
	// +required
	Selector metav1.LabelSelector `json:"selector"`

	// Where the selector is applied. Unset means RelabelConfig.
	//
	// +optional
	SelectorMechanism SelectorMechanism `json:"selectorMechanism,omitempty"`

	// Kind of object Prometheus discovers addresses with. Unset on a monitor means the role of the Prometheus,
	// unset there means Endpoints.
	//
	// +optional
	ServiceDiscoveryRole ServiceDiscoveryRole `json:"serviceDiscoveryRole,omitempty"`

	// Labels of the Service that are copied to its samples.
	//
	// +optional
	TargetLabels []string `json:"targetLabels,omitempty"`
}

// Endpoint is one port and path of the selected Services. `port` or `targetPort` says which port; without both
// every port is scraped.
type Endpoint struct {
	HTTPConfigWithProxyAndTLSFiles `json:",inline"`

	// Path of a file with a bearer token. Deprecated: use `authorization`. A Prometheus that denies file access
	// rejects the monitor.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

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

	// Name of a port of the Service. It wins over `targetPort`.
	//
	// +optional
	Port string `json:"port,omitempty"`

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

	// Name or number of a port of the container.
	//
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`

	// Whether series with explicit timestamps go stale when they vanish from the answer (since Prometheus
	// 2.48.0).
	//
	// +optional
	TrackTimestampsStaleness *bool `json:"trackTimestampsStaleness,omitempty"`
}

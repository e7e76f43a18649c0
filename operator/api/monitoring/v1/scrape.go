package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ScrapeProtocol is a format in which a target can answer a scrape. PrometheusText1.0.0 exists since Prometheus
// 3.0.0 and is left out for older servers.
//
// +kubebuilder:validation:Enum=PrometheusProto;"OpenMetricsText0.0.1";"OpenMetricsText1.0.0";"PrometheusText0.0.4";"PrometheusText1.0.0"
type ScrapeProtocol string

// Values of ScrapeProtocol.
const (
	PrometheusProto      ScrapeProtocol = "PrometheusProto"
	OpenMetricsText0_0_1 ScrapeProtocol = "OpenMetricsText0.0.1"
	OpenMetricsText1_0_0 ScrapeProtocol = "OpenMetricsText1.0.0"
	PrometheusText0_0_4  ScrapeProtocol = "PrometheusText0.0.4"
	PrometheusText1_0_0  ScrapeProtocol = "PrometheusText1.0.0"
)

// NameEscapingSchemeOptions is how a target is asked to escape metric names that are not valid in the legacy
// scheme.
//
// +kubebuilder:validation:Enum=AllowUTF8;Underscores;Dots;Values
type NameEscapingSchemeOptions string

// Values of NameEscapingSchemeOptions.
const (
	AllowUTF8NameEscapingScheme   NameEscapingSchemeOptions = "AllowUTF8"
	UnderscoresNameEscapingScheme NameEscapingSchemeOptions = "Underscores"
	DotsNameEscapingScheme        NameEscapingSchemeOptions = "Dots"
	ValuesNameEscapingScheme      NameEscapingSchemeOptions = "Values"
)

// NameValidationSchemeOptions is the set of characters allowed in metric and label names: any UTF-8, or the
// legacy set of letters, digits, underscores and colons.
//
// +kubebuilder:validation:Enum=UTF8;Legacy
type NameValidationSchemeOptions string

// Values of NameValidationSchemeOptions.
const (
	UTF8NameValidationScheme   NameValidationSchemeOptions = "UTF8"
	LegacyNameValidationScheme NameValidationSchemeOptions = "Legacy"
)

// ScrapeLimits bounds what one job may bring in. 0 means no limit. A scrape beyond a limit fails as a whole.
type ScrapeLimits struct {
	// How many targets that relabeling dropped are remembered for the status page, per job (since Prometheus
	// 2.47.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	KeepDroppedTargets *uint64 `json:"keepDroppedTargets,omitempty"`

	// How many labels a sample may have (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelLimit *uint64 `json:"labelLimit,omitempty"`

	// How long a label name may be, in bytes (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelNameLengthLimit *uint64 `json:"labelNameLengthLimit,omitempty"`

	// How long a label value may be, in bytes (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelValueLengthLimit *uint64 `json:"labelValueLengthLimit,omitempty"`

	// How many samples one scrape may return after relabeling.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	SampleLimit *uint64 `json:"sampleLimit,omitempty"`

	// How many targets the job may have after relabeling; beyond it all targets of the job fail (since
	// Prometheus 2.21.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TargetLimit *uint64 `json:"targetLimit,omitempty"`
}

// NativeHistogramConfig tells what to do with histograms.
type NativeHistogramConfig struct {
	// Whether to turn classic histograms into native ones with custom buckets (since Prometheus 3.0.0 in jobs
	// and 3.4.0 for all jobs).
	//
	// +optional
	ConvertClassicHistogramsToNHCB *bool `json:"convertClassicHistogramsToNHCB,omitempty"`

	// How many buckets a native histogram may have; resolution is reduced until it fits, and if it cannot the
	// scrape fails (since Prometheus 2.45.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	NativeHistogramBucketLimit *uint64 `json:"nativeHistogramBucketLimit,omitempty"`

	// Smallest growth factor between two buckets, such as `1.1`; finer histograms are made coarser (since
	// Prometheus 2.50.0).
	//
	// +optional
	NativeHistogramMinBucketFactor *resource.Quantity `json:"nativeHistogramMinBucketFactor,omitempty"`

	// Whether to ingest the classic buckets of a histogram that is exposed as a native one too (since
	// Prometheus 2.45.0 in jobs and 3.5.0 for all jobs).
	//
	// +optional
	ScrapeClassicHistograms *bool `json:"scrapeClassicHistograms,omitempty"`

	// Whether to ingest native histograms (since Prometheus 3.8.0; before, a feature flag of the server
	// decides).
	//
	// +optional
	ScrapeNativeHistograms *bool `json:"scrapeNativeHistograms,omitempty"`
}

// AttachMetadata tells which further metadata service discovery adds to targets.
type AttachMetadata struct {
	// Whether targets get the labels of the node they run on (since Prometheus 2.35.0 for pods and 2.37.0 for
	// Services). The service account must be able to read nodes.
	//
	// +optional
	Node *bool `json:"node,omitempty"`
}

// ScrapeClass is a set of scrape settings that an administrator defines on the Prometheus and that monitors refer to
// by name.
type ScrapeClass struct {
	// Metadata to add where the monitor does not say.
	//
	// +optional
	AttachMetadata *AttachMetadata `json:"attachMetadata,omitempty"`

	// Authorization header to send where the monitor has none.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// Whether monitors that name no class use this one. Only one class may be the default.
	//
	// +optional
	Default *bool `json:"default,omitempty"`

	// Format to assume if a target answers with an unknown or missing content type (since Prometheus 3.0.0,
	// which otherwise fails such a scrape).
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// Relabeling of samples, applied before the one of the monitor.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Name that monitors refer to.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Relabeling of targets, applied after the labels of the operator and before the relabeling of the monitor.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// TLS settings that fill in what the monitor leaves open.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

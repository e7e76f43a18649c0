package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ScrapeProtocol is an enumeration.
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

// NameEscapingSchemeOptions is an enumeration.
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

// NameValidationSchemeOptions is an enumeration.
//
// +kubebuilder:validation:Enum=UTF8;Legacy
type NameValidationSchemeOptions string

// Values of NameValidationSchemeOptions.
const (
	UTF8NameValidationScheme   NameValidationSchemeOptions = "UTF8"
	LegacyNameValidationScheme NameValidationSchemeOptions = "Legacy"
)

// ScrapeLimits holds settings.
type ScrapeLimits struct {
	// KeepDroppedTargets is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	KeepDroppedTargets *uint64 `json:"keepDroppedTargets,omitempty"`

	// LabelLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelLimit *uint64 `json:"labelLimit,omitempty"`

	// LabelNameLengthLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelNameLengthLimit *uint64 `json:"labelNameLengthLimit,omitempty"`

	// LabelValueLengthLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	LabelValueLengthLimit *uint64 `json:"labelValueLengthLimit,omitempty"`

	// SampleLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	SampleLimit *uint64 `json:"sampleLimit,omitempty"`

	// TargetLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TargetLimit *uint64 `json:"targetLimit,omitempty"`
}

// NativeHistogramConfig holds settings.
type NativeHistogramConfig struct {
	// ConvertClassicHistogramsToNHCB is a setting.
	//
	// +optional
	ConvertClassicHistogramsToNHCB *bool `json:"convertClassicHistogramsToNHCB,omitempty"`

	// NativeHistogramBucketLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	NativeHistogramBucketLimit *uint64 `json:"nativeHistogramBucketLimit,omitempty"`

	// NativeHistogramMinBucketFactor is a setting.
	//
	// +optional
	NativeHistogramMinBucketFactor *resource.Quantity `json:"nativeHistogramMinBucketFactor,omitempty"`

	// ScrapeClassicHistograms is a setting.
	//
	// +optional
	ScrapeClassicHistograms *bool `json:"scrapeClassicHistograms,omitempty"`

	// ScrapeNativeHistograms is a setting.
	//
	// +optional
	ScrapeNativeHistograms *bool `json:"scrapeNativeHistograms,omitempty"`
}

// AttachMetadata holds settings.
type AttachMetadata struct {
	// Node is a setting.
	//
	// +optional
	Node *bool `json:"node,omitempty"`
}

// ScrapeClass holds settings.
type ScrapeClass struct {
	// AttachMetadata is a setting.
	//
	// +optional
	AttachMetadata *AttachMetadata `json:"attachMetadata,omitempty"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// Default is a setting.
	//
	// +optional
	Default *bool `json:"default,omitempty"`

	// FallbackScrapeProtocol is a setting.
	//
	// +optional
	FallbackScrapeProtocol ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// MetricRelabelConfigs is a setting.
	//
	// +optional
	MetricRelabelConfigs []RelabelConfig `json:"metricRelabelings,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// RelabelConfigs is a setting.
	//
	// +optional
	RelabelConfigs []RelabelConfig `json:"relabelings,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

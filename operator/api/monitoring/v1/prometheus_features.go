package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ReloadStrategyType is an enumeration.
//
// +kubebuilder:validation:Enum=HTTP;ProcessSignal
type ReloadStrategyType string

// Values of ReloadStrategyType.
const (
	HTTPReloadStrategyType          ReloadStrategyType = "HTTP"
	ProcessSignalReloadStrategyType ReloadStrategyType = "ProcessSignal"
)

// TranslationStrategyOption is an enumeration.
//
// +kubebuilder:validation:Enum=NoUTF8EscapingWithSuffixes;UnderscoreEscapingWithSuffixes;NoTranslation;UnderscoreEscapingWithoutSuffixes
type TranslationStrategyOption string

// Values of TranslationStrategyOption.
const (
	NoUTF8EscapingWithSuffixes        TranslationStrategyOption = "NoUTF8EscapingWithSuffixes"
	UnderscoreEscapingWithSuffixes    TranslationStrategyOption = "UnderscoreEscapingWithSuffixes"
	NoTranslation                     TranslationStrategyOption = "NoTranslation"
	UnderscoreEscapingWithoutSuffixes TranslationStrategyOption = "UnderscoreEscapingWithoutSuffixes"
)

// OTLPConfig holds settings.
type OTLPConfig struct {
	// ConvertHistogramsToNHCB is a setting.
	//
	// +optional
	ConvertHistogramsToNHCB *bool `json:"convertHistogramsToNHCB,omitempty"`

	// IgnoreResourceAttributes is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	IgnoreResourceAttributes []string `json:"ignoreResourceAttributes,omitempty"`

	// KeepIdentifyingResourceAttributes is a setting.
	//
	// +optional
	KeepIdentifyingResourceAttributes *bool `json:"keepIdentifyingResourceAttributes,omitempty"`

	// LabelNamePreserveMultipleUnderscores is a setting.
	//
	// +optional
	LabelNamePreserveMultipleUnderscores *bool `json:"labelNamePreserveMultipleUnderscores,omitempty"`

	// LabelNameUnderscoreSanitization is a setting.
	//
	// +optional
	LabelNameUnderscoreSanitization *bool `json:"labelNameUnderscoreSanitization,omitempty"`

	// PromoteAllResourceAttributes is a setting.
	//
	// +optional
	PromoteAllResourceAttributes *bool `json:"promoteAllResourceAttributes,omitempty"`

	// PromoteResourceAttributes is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	PromoteResourceAttributes []string `json:"promoteResourceAttributes,omitempty"`

	// PromoteScopeMetadata is a setting.
	//
	// +optional
	PromoteScopeMetadata *bool `json:"promoteScopeMetadata,omitempty"`

	// TranslationStrategy is a setting.
	//
	// +optional
	TranslationStrategy TranslationStrategyOption `json:"translationStrategy,omitempty"`
}

// RuntimeConfig holds settings.
type RuntimeConfig struct {
	// GoGC is a setting.
	//
	// +kubebuilder:validation:Minimum=-1
	// +optional
	GoGC *int32 `json:"goGC,omitempty"`
}

// TracingConfig holds settings.
type TracingConfig struct {
	// ClientType is a setting.
	//
	// +kubebuilder:validation:Enum=http;grpc;HTTP;GRPC
	// +optional
	ClientType string `json:"clientType,omitempty"`

	// Compression is a setting.
	//
	// +kubebuilder:validation:Enum=gzip;Gzip
	// +optional
	Compression string `json:"compression,omitempty"`

	// Endpoint is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Endpoint string `json:"endpoint"`

	// Headers is a setting.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// Insecure is a setting.
	//
	// +optional
	Insecure *bool `json:"insecure,omitempty"`

	// SamplingFraction is a setting.
	//
	// +optional
	SamplingFraction *resource.Quantity `json:"samplingFraction,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// APIServerConfig holds settings.
type APIServerConfig struct {
	ProxyConfig `json:",inline"`

	// Authorization is a setting.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// BasicAuth is a setting.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// BearerToken is a setting.
	//
	// +optional
	BearerToken string `json:"bearerToken,omitempty"`

	// BearerTokenFile is a setting.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// Host is a setting.
	//
	// +required
	Host string `json:"host"`

	// TLSConfig is a setting.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// ArbitraryFSAccessThroughSMsConfig holds settings.
type ArbitraryFSAccessThroughSMsConfig struct {
	// Deny is a setting.
	//
	// +optional
	Deny bool `json:"deny,omitempty"`
}

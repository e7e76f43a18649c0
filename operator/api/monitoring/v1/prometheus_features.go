package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ReloadStrategyType is how the sidecar tells the server about new configuration: an HTTP request or a signal
// to its process. The signal needs a shared process namespace in the pod.
//
// +kubebuilder:validation:Enum=HTTP;ProcessSignal
type ReloadStrategyType string

// Values of ReloadStrategyType.
const (
	HTTPReloadStrategyType          ReloadStrategyType = "HTTP"
	ProcessSignalReloadStrategyType ReloadStrategyType = "ProcessSignal"
)

// TranslationStrategyOption is how names of OTLP metrics and labels become Prometheus names. NoTranslation
// needs Prometheus 3.4.0 and UnderscoreEscapingWithoutSuffixes 3.6.0; asking an older server for them is an
// error.
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

// OTLPConfig is how OTLP metrics become Prometheus series.
type OTLPConfig struct {
	// Whether explicit histograms become native ones with custom buckets (since Prometheus 3.4.0).
	//
	// +optional
	ConvertHistogramsToNHCB *bool `json:"convertHistogramsToNHCB,omitempty"`

	// Attributes not to promote; only with `promoteAllResourceAttributes` (since Prometheus 3.5.0).
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	IgnoreResourceAttributes []string `json:"ignoreResourceAttributes,omitempty"`

	// Whether service name, namespace and instance stay in `target_info` (since Prometheus 3.1.0).
	//
	// +optional
	KeepIdentifyingResourceAttributes *bool `json:"keepIdentifyingResourceAttributes,omitempty"`

	// Whether repeated underscores in label names stay (since Prometheus 3.8.0).
	//
	// +optional
	LabelNamePreserveMultipleUnderscores *bool `json:"labelNamePreserveMultipleUnderscores,omitempty"`

	// Whether label names that start with an underscore get the prefix `key` (since Prometheus 3.8.0).
	//
	// +optional
	LabelNameUnderscoreSanitization *bool `json:"labelNameUnderscoreSanitization,omitempty"`

	// Whether all resource attributes become labels (since Prometheus 3.5.0). Not together with
	// `promoteResourceAttributes`.
	//
	// +optional
	PromoteAllResourceAttributes *bool `json:"promoteAllResourceAttributes,omitempty"`

	// Resource attributes that become labels.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	PromoteResourceAttributes []string `json:"promoteResourceAttributes,omitempty"`

	// Whether name, version and attributes of the scope become labels (since Prometheus 3.6.0).
	//
	// +optional
	PromoteScopeMetadata *bool `json:"promoteScopeMetadata,omitempty"`

	// How names are translated (since Prometheus 3.0.0).
	//
	// +optional
	TranslationStrategy TranslationStrategyOption `json:"translationStrategy,omitempty"`
}

// RuntimeConfig holds settings of the Go runtime of the server.
type RuntimeConfig struct {
	// Target of the garbage collector in percent, as GOGC; -1 switches it off. Unset means the server's
	// default.
	//
	// +kubebuilder:validation:Minimum=-1
	// +optional
	GoGC *int32 `json:"goGC,omitempty"`
}

// TracingConfig is where the server sends its own traces.
type TracingConfig struct {
	// Protocol: `http` or `grpc`. Empty means grpc.
	//
	// +kubebuilder:validation:Enum=http;grpc;HTTP;GRPC
	// +optional
	ClientType string `json:"clientType,omitempty"`

	// Compression: `gzip`, or none if empty.
	//
	// +kubebuilder:validation:Enum=gzip;Gzip
	// +optional
	Compression string `json:"compression,omitempty"`

	// Host and port of the collector.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Endpoint string `json:"endpoint"`

	// Headers to send with every request.
	//
	// +optional
	Headers map[string]string `json:"headers,omitempty"`

	// Whether to connect without TLS.
	//
	// +optional
	Insecure *bool `json:"insecure,omitempty"`

	// Share of requests that are traced, from 0 to 1. Unset means 0.
	//
	// +optional
	SamplingFraction *resource.Quantity `json:"samplingFraction,omitempty"`

	// How long a request may take. Empty means the server's default.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// APIServerConfig is how Prometheus reaches a Kubernetes API server. At most one kind of authentication may be
// set.
type APIServerConfig struct {
	ProxyConfig `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *Authorization `json:"authorization,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`

	// Bearer token in plain text. Deprecated: use `authorization`; everyone who may read the object can read
	// the token.
	//
	// +optional
	BearerToken string `json:"bearerToken,omitempty"`

	// Path of a file with a bearer token. Deprecated: use `authorization`.
	//
	// +optional
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`

	// Host, or host and port, or URL of the API server.
	//
	// +required
	Host string `json:"host"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *TLSConfig `json:"tlsConfig,omitempty"`
}

// ArbitraryFSAccessThroughSMsConfig tells whether monitors may name files of the Prometheus container, such as
// its service account token.
type ArbitraryFSAccessThroughSMsConfig struct {
	// Whether monitors that name files are rejected.
	//
	// +optional
	Deny bool `json:"deny,omitempty"`
}

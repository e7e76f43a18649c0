package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommonPrometheusFields holds settings.
type CommonPrometheusFields struct {
	WorkloadFields `json:",inline"`
	ScrapeLimits   `json:",inline"`

	// AdditionalScrapeConfigs is a setting.
	//
	// +optional
	AdditionalScrapeConfigs *corev1.SecretKeySelector `json:"additionalScrapeConfigs,omitempty"`

	// APIServerConfig is a setting.
	//
	// +optional
	APIServerConfig *APIServerConfig `json:"apiserverConfig,omitempty"`

	// ArbitraryFSAccessThroughSMs is a setting.
	//
	// +optional
	ArbitraryFSAccessThroughSMs *ArbitraryFSAccessThroughSMsConfig `json:"arbitraryFSAccessThroughSMs,omitempty"`

	// AutomountServiceAccountToken is a setting.
	//
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// BodySizeLimit is a setting.
	//
	// +optional
	BodySizeLimit ByteSize `json:"bodySizeLimit,omitempty"`

	// ConfigMaps is a setting.
	//
	// +optional
	ConfigMaps []string `json:"configMaps,omitempty"`

	// ConvertClassicHistogramsToNHCB is a setting.
	//
	// +optional
	ConvertClassicHistogramsToNHCB *bool `json:"convertClassicHistogramsToNHCB,omitempty"`

	// EnableFeatures is a setting.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// EnableOTLPReceiver is a setting.
	//
	// +optional
	EnableOTLPReceiver *bool `json:"enableOTLPReceiver,omitempty"`

	// EnableRemoteWriteReceiver is a setting.
	//
	// +optional
	EnableRemoteWriteReceiver bool `json:"enableRemoteWriteReceiver,omitempty"`

	// EnforcedBodySizeLimit is a setting.
	//
	// +optional
	EnforcedBodySizeLimit ByteSize `json:"enforcedBodySizeLimit,omitempty"`

	// EnforcedKeepDroppedTargets is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedKeepDroppedTargets *uint64 `json:"enforcedKeepDroppedTargets,omitempty"`

	// EnforcedLabelLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelLimit *uint64 `json:"enforcedLabelLimit,omitempty"`

	// EnforcedLabelNameLengthLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelNameLengthLimit *uint64 `json:"enforcedLabelNameLengthLimit,omitempty"`

	// EnforcedLabelValueLengthLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelValueLengthLimit *uint64 `json:"enforcedLabelValueLengthLimit,omitempty"`

	// EnforcedNamespaceLabel is a setting.
	//
	// +optional
	EnforcedNamespaceLabel string `json:"enforcedNamespaceLabel,omitempty"`

	// EnforcedSampleLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedSampleLimit *uint64 `json:"enforcedSampleLimit,omitempty"`

	// EnforcedTargetLimit is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedTargetLimit *uint64 `json:"enforcedTargetLimit,omitempty"`

	// ExcludedFromEnforcement is a setting.
	//
	// +optional
	ExcludedFromEnforcement []ObjectReference `json:"excludedFromEnforcement,omitempty"`

	// ExternalLabels is a setting.
	//
	// +optional
	ExternalLabels map[string]string `json:"externalLabels,omitempty"`

	// ExternalURL is a setting.
	//
	// +optional
	ExternalURL string `json:"externalUrl,omitempty"`

	// HostNetwork is a setting.
	//
	// +optional
	HostNetwork bool `json:"hostNetwork,omitempty"`

	// IgnoreNamespaceSelectors is a setting.
	//
	// +optional
	IgnoreNamespaceSelectors bool `json:"ignoreNamespaceSelectors,omitempty"`

	// MaximumStartupDurationSeconds is a setting.
	//
	// +kubebuilder:validation:Minimum=60
	// +optional
	MaximumStartupDurationSeconds *int32 `json:"maximumStartupDurationSeconds,omitempty"`

	// NameEscapingScheme is a setting.
	//
	// +optional
	NameEscapingScheme NameEscapingSchemeOptions `json:"nameEscapingScheme,omitempty"`

	// NameValidationScheme is a setting.
	//
	// +optional
	NameValidationScheme NameValidationSchemeOptions `json:"nameValidationScheme,omitempty"`

	// OTLP is a setting.
	//
	// +optional
	OTLP *OTLPConfig `json:"otlp,omitempty"`

	// OverrideHonorLabels is a setting.
	//
	// +optional
	OverrideHonorLabels bool `json:"overrideHonorLabels,omitempty"`

	// OverrideHonorTimestamps is a setting.
	//
	// +optional
	OverrideHonorTimestamps bool `json:"overrideHonorTimestamps,omitempty"`

	// PersistentVolumeClaimRetentionPolicy is a setting.
	//
	// +optional
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// PodMonitorNamespaceSelector is a setting.
	//
	// +optional
	PodMonitorNamespaceSelector *metav1.LabelSelector `json:"podMonitorNamespaceSelector,omitempty"`

	// PodMonitorSelector is a setting.
	//
	// +optional
	PodMonitorSelector *metav1.LabelSelector `json:"podMonitorSelector,omitempty"`

	// PodTargetLabels is a setting.
	//
	// +optional
	PodTargetLabels []string `json:"podTargetLabels,omitempty"`

	// ProbeNamespaceSelector is a setting.
	//
	// +optional
	ProbeNamespaceSelector *metav1.LabelSelector `json:"probeNamespaceSelector,omitempty"`

	// ProbeSelector is a setting.
	//
	// +optional
	ProbeSelector *metav1.LabelSelector `json:"probeSelector,omitempty"`

	// PrometheusExternalLabelName is a setting.
	//
	// +optional
	PrometheusExternalLabelName *string `json:"prometheusExternalLabelName,omitempty"`

	// ReloadStrategy is a setting.
	//
	// +optional
	ReloadStrategy ReloadStrategyType `json:"reloadStrategy,omitempty"`

	// RemoteWrite is a setting.
	//
	// +optional
	RemoteWrite []RemoteWriteSpec `json:"remoteWrite,omitempty"`

	// RemoteWriteReceiverMessageVersions is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	RemoteWriteReceiverMessageVersions []RemoteWriteMessageVersion `json:"remoteWriteReceiverMessageVersions,omitempty"`

	// ReplicaExternalLabelName is a setting.
	//
	// +optional
	ReplicaExternalLabelName *string `json:"replicaExternalLabelName,omitempty"`

	// Runtime is a setting.
	//
	// +optional
	Runtime *RuntimeConfig `json:"runtime,omitempty"`

	// ScrapeClasses is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	ScrapeClasses []ScrapeClass `json:"scrapeClasses,omitempty"`

	// ScrapeClassicHistograms is a setting.
	//
	// +optional
	ScrapeClassicHistograms *bool `json:"scrapeClassicHistograms,omitempty"`

	// ScrapeConfigNamespaceSelector is a setting.
	//
	// +optional
	ScrapeConfigNamespaceSelector *metav1.LabelSelector `json:"scrapeConfigNamespaceSelector,omitempty"`

	// ScrapeConfigSelector is a setting.
	//
	// +optional
	ScrapeConfigSelector *metav1.LabelSelector `json:"scrapeConfigSelector,omitempty"`

	// ScrapeFailureLogFile is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeFailureLogFile string `json:"scrapeFailureLogFile,omitempty"`

	// ScrapeInterval is a setting.
	//
	// +kubebuilder:default:="30s"
	// +optional
	ScrapeInterval Duration `json:"scrapeInterval,omitempty"`

	// ScrapeNativeHistograms is a setting.
	//
	// +optional
	ScrapeNativeHistograms *bool `json:"scrapeNativeHistograms,omitempty"`

	// ScrapeProtocols is a setting.
	//
	// +listType=set
	// +optional
	ScrapeProtocols []ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// ScrapeTimeout is a setting.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// Secrets is a setting.
	//
	// +listType=set
	// +optional
	Secrets []string `json:"secrets,omitempty"`

	// ServiceDiscoveryRole is a setting.
	//
	// +optional
	ServiceDiscoveryRole ServiceDiscoveryRole `json:"serviceDiscoveryRole,omitempty"`

	// ServiceMonitorNamespaceSelector is a setting.
	//
	// +optional
	ServiceMonitorNamespaceSelector *metav1.LabelSelector `json:"serviceMonitorNamespaceSelector,omitempty"`

	// ServiceMonitorSelector is a setting.
	//
	// +optional
	ServiceMonitorSelector *metav1.LabelSelector `json:"serviceMonitorSelector,omitempty"`

	// ShardingStrategy is a setting.
	//
	// +optional
	ShardingStrategy *ShardingStrategy `json:"shardingStrategy,omitempty"`

	// Shards is a setting.
	//
	// +kubebuilder:default:=1
	// +optional
	Shards *int32 `json:"shards,omitempty"`

	// TopologySpreadConstraints is a setting.
	//
	// +optional
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// TracingConfig is a setting.
	//
	// +optional
	TracingConfig *TracingConfig `json:"tracingConfig,omitempty"`

	// TSDB is a setting.
	//
	// +optional
	TSDB *TSDBSpec `json:"tsdb,omitempty"`

	// WALCompression is a setting.
	//
	// +optional
	WALCompression *bool `json:"walCompression,omitempty"`

	// Web is a setting.
	//
	// +optional
	Web *PrometheusWebSpec `json:"web,omitempty"`
}

package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommonPrometheusFields are the fields that Prometheus and PrometheusAgent have in common.
type CommonPrometheusFields struct {
	WorkloadFields `json:",inline"`
	ScrapeLimits   `json:",inline"`

	// Secret key with a YAML list of scrape configurations to append as they are. If the server would refuse
	// one, the last configuration stays.
	//
	// +optional
	AdditionalScrapeConfigs *corev1.SecretKeySelector `json:"additionalScrapeConfigs,omitempty"`

	// How to reach the API server for service discovery. Unset means the service account of the pods.
	//
	// +optional
	APIServerConfig *APIServerConfig `json:"apiserverConfig,omitempty"`

	// Whether monitors may name files of the Prometheus container.
	//
	// +optional
	ArbitraryFSAccessThroughSMs *ArbitraryFSAccessThroughSMsConfig `json:"arbitraryFSAccessThroughSMs,omitempty"`

	// Whether the token of the service account is mounted into the pods. Unset means true.
	//
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// How large an answer may be, uncompressed, where a monitor does not say (since Prometheus 2.45.0).
	//
	// +optional
	BodySizeLimit ByteSize `json:"bodySizeLimit,omitempty"`

	// ConfigMaps of the same namespace to mount, each under a path named after it.
	//
	// +optional
	ConfigMaps []string `json:"configMaps,omitempty"`

	// Whether to turn classic histograms into native ones with custom buckets, where a monitor does not say
	// (since Prometheus 3.4.0).
	//
	// +optional
	ConvertClassicHistogramsToNHCB *bool `json:"convertClassicHistogramsToNHCB,omitempty"`

	// Feature flags of the program to switch on. They may change or vanish with any version.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// Whether the server accepts OTLP metrics (since Prometheus 2.47.0). Unset means true if `otlp` is set.
	//
	// +optional
	EnableOTLPReceiver *bool `json:"enableOTLPReceiver,omitempty"`

	// Whether the server accepts remote write (since Prometheus 2.33.0).
	//
	// +optional
	EnableRemoteWriteReceiver bool `json:"enableRemoteWriteReceiver,omitempty"`

	// Upper bound of `bodySizeLimit` of all monitors (since Prometheus 2.28.0).
	//
	// +optional
	EnforcedBodySizeLimit ByteSize `json:"enforcedBodySizeLimit,omitempty"`

	// Upper bound of `keepDroppedTargets` of all monitors (since Prometheus 2.47.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedKeepDroppedTargets *uint64 `json:"enforcedKeepDroppedTargets,omitempty"`

	// Upper bound of `labelLimit` of all monitors (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelLimit *uint64 `json:"enforcedLabelLimit,omitempty"`

	// Upper bound of `labelNameLengthLimit` of all monitors (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelNameLengthLimit *uint64 `json:"enforcedLabelNameLengthLimit,omitempty"`

	// Upper bound of `labelValueLengthLimit` of all monitors (since Prometheus 2.27.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedLabelValueLengthLimit *uint64 `json:"enforcedLabelValueLengthLimit,omitempty"`

	// Name of a label that is set on all samples, alerts and rules to the namespace of the object they come
	// from, so that tenants cannot pose as each other.
	//
	// +optional
	EnforcedNamespaceLabel string `json:"enforcedNamespaceLabel,omitempty"`

	// Upper bound of `sampleLimit` of all monitors.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedSampleLimit *uint64 `json:"enforcedSampleLimit,omitempty"`

	// Upper bound of `targetLimit` of all monitors (since Prometheus 2.21.0).
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EnforcedTargetLimit *uint64 `json:"enforcedTargetLimit,omitempty"`

	// Objects that `enforcedNamespaceLabel` does not apply to.
	//
	// +optional
	ExcludedFromEnforcement []ObjectReference `json:"excludedFromEnforcement,omitempty"`

	// Labels to add to everything that leaves the server: federation, remote write, alerts. Names the operator
	// sets are ignored with a warning.
	//
	// +optional
	ExternalLabels map[string]string `json:"externalLabels,omitempty"`

	// URL under which users reach the program, for links in what it sends.
	//
	// +optional
	ExternalURL string `json:"externalUrl,omitempty"`

	// Whether pods use the network of the host. Check that ports do not collide.
	//
	// +optional
	HostNetwork bool `json:"hostNetwork,omitempty"`

	// Whether monitors see only their own namespace, whatever their namespace selectors say.
	//
	// +optional
	IgnoreNamespaceSelectors bool `json:"ignoreNamespaceSelectors,omitempty"`

	// How long the server may take to replay its log before it is restarted, in seconds. Unset means 900.
	//
	// +kubebuilder:validation:Minimum=60
	// +optional
	MaximumStartupDurationSeconds *int32 `json:"maximumStartupDurationSeconds,omitempty"`

	// How names that are not valid in the legacy scheme are escaped when scraping (since Prometheus 3.4.0).
	//
	// +optional
	NameEscapingScheme NameEscapingSchemeOptions `json:"nameEscapingScheme,omitempty"`

	// Characters that are valid in metric and label names (since Prometheus 3.0.0).
	//
	// +optional
	NameValidationScheme NameValidationSchemeOptions `json:"nameValidationScheme,omitempty"`

	// How OTLP metrics are taken in (since Prometheus 2.55.0; an error on older servers).
	//
	// +optional
	OTLP *OTLPConfig `json:"otlp,omitempty"`

	// Whether `honorLabels` of monitors is taken as false.
	//
	// +optional
	OverrideHonorLabels bool `json:"overrideHonorLabels,omitempty"`

	// Whether `honorTimestamps` of monitors is taken as false.
	//
	// +optional
	OverrideHonorTimestamps bool `json:"overrideHonorTimestamps,omitempty"`

	// What happens to volume claims when the StatefulSet is deleted or scaled down. Unset means they are kept.
	//
	// +optional
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// Labels of the namespaces to look for PodMonitors in. Unset means the object's own, an empty selector all.
	//
	// +optional
	PodMonitorNamespaceSelector *metav1.LabelSelector `json:"podMonitorNamespaceSelector,omitempty"`

	// Labels of the PodMonitors to use. Unset selects none, an empty selector all.
	//
	// +optional
	PodMonitorSelector *metav1.LabelSelector `json:"podMonitorSelector,omitempty"`

	// Labels of pods that are copied to samples, in addition to those of the monitors.
	//
	// +optional
	PodTargetLabels []string `json:"podTargetLabels,omitempty"`

	// Labels of the namespaces to look for Probes in. Unset means the object's own, an empty selector all.
	//
	// +optional
	ProbeNamespaceSelector *metav1.LabelSelector `json:"probeNamespaceSelector,omitempty"`

	// Labels of the Probes to use. Unset selects none, an empty selector all.
	//
	// +optional
	ProbeSelector *metav1.LabelSelector `json:"probeSelector,omitempty"`

	// Name of the external label that holds namespace and name of this object. Unset means `prometheus`, empty
	// means no such label.
	//
	// +optional
	PrometheusExternalLabelName *string `json:"prometheusExternalLabelName,omitempty"`

	// How the server learns about new configuration. Unset means HTTP.
	//
	// +optional
	ReloadStrategy ReloadStrategyType `json:"reloadStrategy,omitempty"`

	// Endpoints to send samples to.
	//
	// +optional
	RemoteWrite []RemoteWriteSpec `json:"remoteWrite,omitempty"`

	// Versions of remote write that the receiver accepts (since Prometheus 2.54.0). Unset means all.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	RemoteWriteReceiverMessageVersions []RemoteWriteMessageVersion `json:"remoteWriteReceiverMessageVersions,omitempty"`

	// Name of the external label that holds the pod name. Unset means `prometheus_replica`, empty means no such
	// label.
	//
	// +optional
	ReplicaExternalLabelName *string `json:"replicaExternalLabelName,omitempty"`

	// Settings of the Go runtime.
	//
	// +optional
	Runtime *RuntimeConfig `json:"runtime,omitempty"`

	// Sets of scrape settings that monitors can refer to by name. Names must be unique.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	ScrapeClasses []ScrapeClass `json:"scrapeClasses,omitempty"`

	// Whether to ingest the classic buckets of a histogram that is exposed as a native one too, where a monitor
	// does not say (since Prometheus 3.5.0).
	//
	// +optional
	ScrapeClassicHistograms *bool `json:"scrapeClassicHistograms,omitempty"`

	// Labels of the namespaces to look for ScrapeConfigs in. Unset means the object's own, an empty selector
	// all.
	//
	// +optional
	ScrapeConfigNamespaceSelector *metav1.LabelSelector `json:"scrapeConfigNamespaceSelector,omitempty"`

	// Labels of the ScrapeConfigs to use. Unset selects none, an empty selector all.
	//
	// +optional
	ScrapeConfigSelector *metav1.LabelSelector `json:"scrapeConfigSelector,omitempty"`

	// File that failed scrapes are logged to (since Prometheus 2.55.0). A bare name goes to a volume that the
	// operator adds.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeFailureLogFile string `json:"scrapeFailureLogFile,omitempty"`

	// Time between two scrapes where a monitor does not say.
	//
	// +kubebuilder:default:="30s"
	// +optional
	ScrapeInterval Duration `json:"scrapeInterval,omitempty"`

	// Whether to ingest native histograms, where a monitor does not say (since Prometheus 3.8.0).
	//
	// +optional
	ScrapeNativeHistograms *bool `json:"scrapeNativeHistograms,omitempty"`

	// Formats to ask targets for where a monitor does not say, most preferred first (since Prometheus 2.49.0).
	//
	// +listType=set
	// +optional
	ScrapeProtocols []ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// How long a scrape may take where a monitor does not say. It must not be longer than `scrapeInterval`.
	//
	// +optional
	ScrapeTimeout Duration `json:"scrapeTimeout,omitempty"`

	// Secrets of the same namespace to mount, each under a path named after it.
	//
	// +listType=set
	// +optional
	Secrets []string `json:"secrets,omitempty"`

	// Kind of object Prometheus finds addresses with where a ServiceMonitor does not say. Unset means
	// Endpoints.
	//
	// +optional
	ServiceDiscoveryRole ServiceDiscoveryRole `json:"serviceDiscoveryRole,omitempty"`

	// Labels of the namespaces to look for ServiceMonitors in. Unset means the object's own, an empty selector
	// all.
	//
	// +optional
	ServiceMonitorNamespaceSelector *metav1.LabelSelector `json:"serviceMonitorNamespaceSelector,omitempty"`

	// Labels of the ServiceMonitors to use. Unset selects none, an empty selector all. With all four selectors
	// unset, the operator does not write the configuration Secret.
	//
	// +optional
	ServiceMonitorSelector *metav1.LabelSelector `json:"serviceMonitorSelector,omitempty"`

	// How targets are spread over shards. Unset means by address.
	//
	// +optional
	ShardingStrategy *ShardingStrategy `json:"shardingStrategy,omitempty"`

	// Number of shards, each with `replicas` pods. Targets are spread over them; data does not move when the
	// number changes.
	//
	// +kubebuilder:default:=1
	// +optional
	Shards *int32 `json:"shards,omitempty"`

	// How pods are spread over the cluster.
	//
	// +optional
	TopologySpreadConstraints []TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Where the server sends its own traces.
	//
	// +optional
	TracingConfig *TracingConfig `json:"tracingConfig,omitempty"`

	// Settings of the time series database.
	//
	// +optional
	TSDB *TSDBSpec `json:"tsdb,omitempty"`

	// Whether the write-ahead log is compressed (since Prometheus 2.11.0). Unset means the server's default.
	//
	// +optional
	WALCompression *bool `json:"walCompression,omitempty"`

	// Settings of the HTTP server.
	//
	// +optional
	Web *PrometheusWebSpec `json:"web,omitempty"`
}

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prometheus describes a Prometheus server: its pods, its storage, and which monitors, probes, scrape
// configurations and rules it takes its work from. The operator turns it into one StatefulSet per shard.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=prometheuses,shortName=prom
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.shards,statuspath=.status.shards,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Version wanted for the server."
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".spec.replicas",description="Replicas wanted per shard."
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.availableReplicas",description="Pods that are ready."
// +kubebuilder:printcolumn:name="Reconciled",type="string",JSONPath=".status.conditions[?(@.type == 'Reconciled')].status"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type == 'Available')].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Paused",type="boolean",JSONPath=".status.paused",priority=1,description="Whether the operator leaves the object alone."
type Prometheus struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Decoding          `json:"-"`

	// Spec is what the user wants.
	//
	// +required
	Spec PrometheusSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status PrometheusStatus `json:"status,omitempty,omitzero"`
}

// PrometheusList is a list of Prometheus objects.
//
// +kubebuilder:object:root=true
type PrometheusList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Prometheus `json:"items"`
}

// FloatChunkEncoding is the encoding of chunks of float samples.
//
// +kubebuilder:validation:Enum=Xor;Xor2
type FloatChunkEncoding string

// Values of FloatChunkEncoding.
const (
	FloatChunkEncodingXor  FloatChunkEncoding = "Xor"
	FloatChunkEncodingXor2 FloatChunkEncoding = "Xor2"
)

// PrometheusSpec is what the user wants of a Prometheus server.
//
// +kubebuilder:validation:XValidation:rule="!has(self.shardingStrategy) || !has(self.shardingStrategy.mode) || self.shardingStrategy.mode != 'Topology' || !has(self.shardingStrategy.topology) || !has(self.shardingStrategy.topology.values) || self.shardingStrategy.topology.values.size() == 0 || (has(self.shards) ? self.shards : 1) >= self.shardingStrategy.topology.values.size()",message="shards must be greater than or equal to the number of topology values when sharding strategy mode is Topology"
type PrometheusSpec struct {
	CommonPrometheusFields `json:",inline"`

	// Secret key with a YAML list of Alertmanager configurations to append as they are. If the server
	// would refuse one, the last configuration stays.
	//
	// +optional
	AdditionalAlertManagerConfigs *corev1.SecretKeySelector `json:"additionalAlertManagerConfigs,omitempty"`

	// Secret key with a YAML list of relabeling steps for alerts to append as they are. If the server
	// would refuse one, the last configuration stays.
	//
	// +optional
	AdditionalAlertRelabelConfigs *corev1.SecretKeySelector `json:"additionalAlertRelabelConfigs,omitempty"`

	// Alertmanagers to send alerts to.
	//
	// +optional
	Alerting *AlertingSpec `json:"alerting,omitempty"`

	// Whether blocks may overlap (from Prometheus 2.11.0 until 2.39.0, which always allows it).
	//
	// +optional
	AllowOverlappingBlocks bool `json:"allowOverlappingBlocks,omitempty"`

	// Repository of the image. Deprecated: use `image`.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// Whether the server never compacts blocks. While the Thanos sidecar uploads, it compacts them after their
	// upload (since Prometheus 3.9.0 and Thanos 0.41.0), or never.
	//
	// +optional
	DisableCompaction bool `json:"disableCompaction,omitempty"`

	// Whether the API to delete series and take snapshots is open. Anybody who can reach the server can use it.
	//
	// +optional
	EnableAdminAPI bool `json:"enableAdminAPI,omitempty"`

	// Time between two evaluations where a rule group does not say.
	//
	// +kubebuilder:default:="30s"
	// +optional
	EvaluationInterval Duration `json:"evaluationInterval,omitempty"`

	// Storage of exemplars; it needs the feature flag `exemplar-storage` (since Prometheus 2.29.0).
	//
	// +optional
	Exemplars *Exemplars `json:"exemplars,omitempty"`

	// PrometheusRules that `enforcedNamespaceLabel` does not apply to. Deprecated: use
	// `excludedFromEnforcement`.
	//
	// +optional
	PrometheusRulesExcludedFromEnforce []PrometheusRuleExcludeConfig `json:"prometheusRulesExcludedFromEnforce,omitempty"`

	// Limits of queries.
	//
	// +optional
	Query *QuerySpec `json:"query,omitempty"`

	// File that queries are logged to (since Prometheus 2.16.0). A bare name goes to a volume that the operator
	// adds; a path must be on a mounted, writable volume.
	//
	// +optional
	QueryLogFile string `json:"queryLogFile,omitempty"`

	// Endpoints to read older samples from.
	//
	// +optional
	RemoteRead []RemoteReadSpec `json:"remoteRead,omitempty"`

	// How long samples are kept. Empty means 24h, unless `retentionSize` is set.
	//
	// +optional
	Retention Duration `json:"retention,omitempty"`

	// How much disk blocks may use before the oldest are deleted.
	//
	// +optional
	RetentionSize ByteSize `json:"retentionSize,omitempty"`

	// Labels of the namespaces to look for PrometheusRules in. Unset means the object's own, an empty selector
	// all.
	//
	// +optional
	RuleNamespaceSelector *metav1.LabelSelector `json:"ruleNamespaceSelector,omitempty"`

	// How far rule evaluation looks back from now where a group does not say (since Prometheus 2.53.0, Thanos
	// 0.38.0).
	//
	// +optional
	RuleQueryOffset Duration `json:"ruleQueryOffset,omitempty"`

	// Labels of the PrometheusRules to use. Unset selects none, an empty selector all.
	//
	// +optional
	RuleSelector *metav1.LabelSelector `json:"ruleSelector,omitempty"`

	// Settings of alerting rules.
	//
	// +optional
	Rules *Rules `json:"rules,omitempty"`

	// Digest of the image; it wins over `tag`. Deprecated: use `image`.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// What happens to shards that are no longer wanted. Needs a feature gate of the operator.
	//
	// +optional
	ShardRetentionPolicy *ShardRetentionPolicy `json:"shardRetentionPolicy,omitempty"`

	// Tag of the image. Deprecated: use `image`.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// Thanos sidecar to add. Unset means none.
	//
	// +optional
	Thanos *ThanosSpec `json:"thanos,omitempty"`
}

// TSDBSpec is the time series database of the server.
type TSDBSpec struct {
	// Encoding of chunks (since Prometheus 3.13.0).
	//
	// +optional
	ChunkEncoding *TSDBChunkEncoding `json:"chunkEncoding,omitempty"`

	// How old a sample may be, compared to the newest of its series, and still be stored (since Prometheus
	// 2.39.0, agent 2.54.0). 0 means only in order.
	//
	// +optional
	OutOfOrderTimeWindow Duration `json:"outOfOrderTimeWindow,omitempty"`

	// Share of stale series in memory, from 0 to 1, from which on they are written out early (since Prometheus
	// 3.10.0).
	//
	// +optional
	StaleSeriesCompactionThreshold *resource.Quantity `json:"staleSeriesCompactionThreshold,omitempty"`
}

// TSDBChunkEncoding is the encoding of chunks by type of sample.
type TSDBChunkEncoding struct {
	// Encoding of float samples.
	//
	// +optional
	Floats FloatChunkEncoding `json:"floats,omitempty"`
}

// Exemplars is the storage of exemplars.
type Exemplars struct {
	// How many exemplars are kept in memory for all series together. 0 or less keeps none; unset means the
	// server's default.
	//
	// +optional
	MaxSize *int64 `json:"maxSize,omitempty"`
}

// QuerySpec bounds queries. What is unset has the server's default.
type QuerySpec struct {
	// How far a query looks back for the latest sample of a series.
	//
	// +optional
	LookbackDelta *string `json:"lookbackDelta,omitempty"`

	// How many queries run at a time.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxConcurrency *int32 `json:"maxConcurrency,omitempty"`

	// How many samples a query may load into memory (since Prometheus 2.5.0).
	//
	// +optional
	MaxSamples *int32 `json:"maxSamples,omitempty"`

	// How long a query may take.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`
}

// Rules holds settings of rule evaluation.
type Rules struct {
	// Settings of alerting rules.
	//
	// +optional
	Alert *RulesAlert `json:"alert,omitempty"`
}

// RulesAlert holds settings of alerting rules, as durations. What is empty has the server's default.
type RulesAlert struct {
	// Least time between the restored state of an alert and its firing; only for alerts whose `for` is longer.
	//
	// +optional
	ForGracePeriod string `json:"forGracePeriod,omitempty"`

	// Longest outage after which the state of pending alerts is restored.
	//
	// +optional
	ForOutageTolerance string `json:"forOutageTolerance,omitempty"`

	// Least time before an alert is sent again.
	//
	// +optional
	ResendDelay string `json:"resendDelay,omitempty"`
}

// PrometheusRuleExcludeConfig names one PrometheusRule.
type PrometheusRuleExcludeConfig struct {
	// Name of the PrometheusRule.
	//
	// +required
	RuleName string `json:"ruleName"`

	// Namespace of the PrometheusRule.
	//
	// +required
	RuleNamespace string `json:"ruleNamespace"`
}

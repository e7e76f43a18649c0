package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Prometheus is a kind.
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

// FloatChunkEncoding is an enumeration.
//
// +kubebuilder:validation:Enum=Xor;Xor2
type FloatChunkEncoding string

// Values of FloatChunkEncoding.
const (
	FloatChunkEncodingXor  FloatChunkEncoding = "Xor"
	FloatChunkEncodingXor2 FloatChunkEncoding = "Xor2"
)

// PrometheusSpec holds settings.
//
// +kubebuilder:validation:XValidation:rule="!has(self.shardingStrategy) || !has(self.shardingStrategy.mode) || self.shardingStrategy.mode != 'Topology' || !has(self.shardingStrategy.topology) || !has(self.shardingStrategy.topology.values) || self.shardingStrategy.topology.values.size() == 0 || (has(self.shards) ? self.shards : 1) >= self.shardingStrategy.topology.values.size()",message="shards must be greater than or equal to the number of topology values when sharding strategy mode is Topology"
type PrometheusSpec struct {
	CommonPrometheusFields `json:",inline"`

	// AdditionalAlertManagerConfigs is a setting.
	//
	// +optional
	AdditionalAlertManagerConfigs *corev1.SecretKeySelector `json:"additionalAlertManagerConfigs,omitempty"`

	// AdditionalAlertRelabelConfigs is a setting.
	//
	// +optional
	AdditionalAlertRelabelConfigs *corev1.SecretKeySelector `json:"additionalAlertRelabelConfigs,omitempty"`

	// Alerting is a setting.
	//
	// +optional
	Alerting *AlertingSpec `json:"alerting,omitempty"`

	// AllowOverlappingBlocks is a setting.
	//
	// +optional
	AllowOverlappingBlocks bool `json:"allowOverlappingBlocks,omitempty"`

	// BaseImage is a setting.
	//
	// +optional
	BaseImage string `json:"baseImage,omitempty"`

	// DisableCompaction is a setting.
	//
	// +optional
	DisableCompaction bool `json:"disableCompaction,omitempty"`

	// EnableAdminAPI is a setting.
	//
	// +optional
	EnableAdminAPI bool `json:"enableAdminAPI,omitempty"`

	// EvaluationInterval is a setting.
	//
	// +kubebuilder:default:="30s"
	// +optional
	EvaluationInterval Duration `json:"evaluationInterval,omitempty"`

	// Exemplars is a setting.
	//
	// +optional
	Exemplars *Exemplars `json:"exemplars,omitempty"`

	// PrometheusRulesExcludedFromEnforce is a setting.
	//
	// +optional
	PrometheusRulesExcludedFromEnforce []PrometheusRuleExcludeConfig `json:"prometheusRulesExcludedFromEnforce,omitempty"`

	// Query is a setting.
	//
	// +optional
	Query *QuerySpec `json:"query,omitempty"`

	// QueryLogFile is a setting.
	//
	// +optional
	QueryLogFile string `json:"queryLogFile,omitempty"`

	// RemoteRead is a setting.
	//
	// +optional
	RemoteRead []RemoteReadSpec `json:"remoteRead,omitempty"`

	// Retention is a setting.
	//
	// +optional
	Retention Duration `json:"retention,omitempty"`

	// RetentionSize is a setting.
	//
	// +optional
	RetentionSize ByteSize `json:"retentionSize,omitempty"`

	// RuleNamespaceSelector is a setting.
	//
	// +optional
	RuleNamespaceSelector *metav1.LabelSelector `json:"ruleNamespaceSelector,omitempty"`

	// RuleQueryOffset is a setting.
	//
	// +optional
	RuleQueryOffset Duration `json:"ruleQueryOffset,omitempty"`

	// RuleSelector is a setting.
	//
	// +optional
	RuleSelector *metav1.LabelSelector `json:"ruleSelector,omitempty"`

	// Rules is a setting.
	//
	// +optional
	Rules *Rules `json:"rules,omitempty"`

	// SHA is a setting.
	//
	// +optional
	SHA string `json:"sha,omitempty"`

	// ShardRetentionPolicy is a setting.
	//
	// +optional
	ShardRetentionPolicy *ShardRetentionPolicy `json:"shardRetentionPolicy,omitempty"`

	// Tag is a setting.
	//
	// +optional
	Tag string `json:"tag,omitempty"`

	// Thanos is a setting.
	//
	// +optional
	Thanos *ThanosSpec `json:"thanos,omitempty"`
}

// TSDBSpec holds settings.
type TSDBSpec struct {
	// ChunkEncoding is a setting.
	//
	// +optional
	ChunkEncoding *TSDBChunkEncoding `json:"chunkEncoding,omitempty"`

	// OutOfOrderTimeWindow is a setting.
	//
	// +optional
	OutOfOrderTimeWindow Duration `json:"outOfOrderTimeWindow,omitempty"`

	// StaleSeriesCompactionThreshold is a setting.
	//
	// +optional
	StaleSeriesCompactionThreshold *resource.Quantity `json:"staleSeriesCompactionThreshold,omitempty"`
}

// TSDBChunkEncoding holds settings.
type TSDBChunkEncoding struct {
	// Floats is a setting.
	//
	// +optional
	Floats FloatChunkEncoding `json:"floats,omitempty"`
}

// Exemplars holds settings.
type Exemplars struct {
	// MaxSize is a setting.
	//
	// +optional
	MaxSize *int64 `json:"maxSize,omitempty"`
}

// QuerySpec holds settings.
type QuerySpec struct {
	// LookbackDelta is a setting.
	//
	// +optional
	LookbackDelta *string `json:"lookbackDelta,omitempty"`

	// MaxConcurrency is a setting.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxConcurrency *int32 `json:"maxConcurrency,omitempty"`

	// MaxSamples is a setting.
	//
	// +optional
	MaxSamples *int32 `json:"maxSamples,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout Duration `json:"timeout,omitempty"`
}

// Rules holds settings.
type Rules struct {
	// Alert is a setting.
	//
	// +optional
	Alert *RulesAlert `json:"alert,omitempty"`
}

// RulesAlert holds settings.
type RulesAlert struct {
	// ForGracePeriod is a setting.
	//
	// +optional
	ForGracePeriod string `json:"forGracePeriod,omitempty"`

	// ForOutageTolerance is a setting.
	//
	// +optional
	ForOutageTolerance string `json:"forOutageTolerance,omitempty"`

	// ResendDelay is a setting.
	//
	// +optional
	ResendDelay string `json:"resendDelay,omitempty"`
}

// PrometheusRuleExcludeConfig holds settings.
type PrometheusRuleExcludeConfig struct {
	// RuleName is a setting.
	//
	// +required
	RuleName string `json:"ruleName"`

	// RuleNamespace is a setting.
	//
	// +required
	RuleNamespace string `json:"ruleNamespace"`
}

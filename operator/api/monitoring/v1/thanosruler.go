package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ThanosRuler is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=thanosrulers,shortName=ruler
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".spec.version",description="Version wanted for the server."
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".spec.replicas",description="Replicas wanted."
// +kubebuilder:printcolumn:name="Ready",type="integer",JSONPath=".status.availableReplicas",description="Pods that are ready."
// +kubebuilder:printcolumn:name="Reconciled",type="string",JSONPath=".status.conditions[?(@.type == 'Reconciled')].status"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type == 'Available')].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Paused",type="boolean",JSONPath=".status.paused",priority=1,description="Whether the operator leaves the object alone."
type ThanosRuler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	//
	// +required
	Spec ThanosRulerSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status ThanosRulerStatus `json:"status,omitempty,omitzero"`
}

// ThanosRulerList is a list of ThanosRuler objects.
//
// +kubebuilder:object:root=true
type ThanosRulerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ThanosRuler `json:"items"`
}

// ThanosRulerStatus holds settings.
type ThanosRulerStatus struct {
	WorkloadStatus `json:",inline"`
}

// ThanosRulerSpec holds settings.
type ThanosRulerSpec struct {
	WorkloadFields `json:",inline"`

	// AlertDropLabels is a setting.
	//
	// +optional
	AlertDropLabels []string `json:"alertDropLabels,omitempty"`

	// AlertQueryURL is a setting.
	//
	// +optional
	AlertQueryURL string `json:"alertQueryUrl,omitempty"`

	// AlertRelabelConfigFile is a setting.
	//
	// +optional
	AlertRelabelConfigFile string `json:"alertRelabelConfigFile,omitempty"`

	// AlertRelabelConfigs is a setting.
	//
	// +optional
	AlertRelabelConfigs *corev1.SecretKeySelector `json:"alertRelabelConfigs,omitempty"`

	// AlertmanagersConfig is a setting.
	//
	// +optional
	AlertmanagersConfig *corev1.SecretKeySelector `json:"alertmanagersConfig,omitempty"`

	// AlertmanagersURL is a setting.
	//
	// +optional
	AlertmanagersURL []string `json:"alertmanagersUrl,omitempty"`

	// EnableFeatures is a setting.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// EnforcedNamespaceLabel is a setting.
	//
	// +optional
	EnforcedNamespaceLabel string `json:"enforcedNamespaceLabel,omitempty"`

	// EvaluationInterval is a setting.
	//
	// +kubebuilder:default:="15s"
	// +optional
	EvaluationInterval Duration `json:"evaluationInterval,omitempty"`

	// ExcludedFromEnforcement is a setting.
	//
	// +optional
	ExcludedFromEnforcement []ObjectReference `json:"excludedFromEnforcement,omitempty"`

	// ExternalPrefix is a setting.
	//
	// +optional
	ExternalPrefix string `json:"externalPrefix,omitempty"`

	// GRPCServerTLSConfig is a setting.
	//
	// +optional
	GRPCServerTLSConfig *GRPCServerTLSConfig `json:"grpcServerTlsConfig,omitempty"`

	// Labels is a setting.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// ObjectStorageConfig is a setting.
	//
	// +optional
	ObjectStorageConfig *corev1.SecretKeySelector `json:"objectStorageConfig,omitempty"`

	// ObjectStorageConfigFile is a setting.
	//
	// +optional
	ObjectStorageConfigFile string `json:"objectStorageConfigFile,omitempty"`

	// PrometheusRulesExcludedFromEnforce is a setting.
	//
	// +optional
	PrometheusRulesExcludedFromEnforce []PrometheusRuleExcludeConfig `json:"prometheusRulesExcludedFromEnforce,omitempty"`

	// QueryConfig is a setting.
	//
	// +optional
	QueryConfig *corev1.SecretKeySelector `json:"queryConfig,omitempty"`

	// QueryEndpoints is a setting.
	//
	// +optional
	QueryEndpoints []string `json:"queryEndpoints,omitempty"`

	// RemoteWrite is a setting.
	//
	// +optional
	RemoteWrite []RemoteWriteSpec `json:"remoteWrite,omitempty"`

	// ResendDelay is a setting.
	//
	// +optional
	ResendDelay Duration `json:"resendDelay,omitempty"`

	// Retention is a setting.
	//
	// +kubebuilder:default:="24h"
	// +optional
	Retention Duration `json:"retention,omitempty"`

	// RuleConcurrentEval is a setting.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	RuleConcurrentEval *int32 `json:"ruleConcurrentEval,omitempty"`

	// RuleGracePeriod is a setting.
	//
	// +optional
	RuleGracePeriod Duration `json:"ruleGracePeriod,omitempty"`

	// RuleNamespaceSelector is a setting.
	//
	// +optional
	RuleNamespaceSelector *metav1.LabelSelector `json:"ruleNamespaceSelector,omitempty"`

	// RuleOutageTolerance is a setting.
	//
	// +optional
	RuleOutageTolerance Duration `json:"ruleOutageTolerance,omitempty"`

	// RuleQueryOffset is a setting.
	//
	// +optional
	RuleQueryOffset Duration `json:"ruleQueryOffset,omitempty"`

	// RuleSelector is a setting.
	//
	// +optional
	RuleSelector *metav1.LabelSelector `json:"ruleSelector,omitempty"`

	// TopologySpreadConstraints is a setting.
	//
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// TracingConfig is a setting.
	//
	// +optional
	TracingConfig *corev1.SecretKeySelector `json:"tracingConfig,omitempty"`

	// TracingConfigFile is a setting.
	//
	// +optional
	TracingConfigFile string `json:"tracingConfigFile,omitempty"`

	// Web is a setting.
	//
	// +optional
	Web *ThanosRulerWebSpec `json:"web,omitempty"`
}

// ThanosRulerWebSpec holds settings.
type ThanosRulerWebSpec struct {
	WebConfigFileFields `json:",inline"`
}

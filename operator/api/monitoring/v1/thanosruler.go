package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ThanosRuler describes a Thanos Ruler: a component that evaluates rules against Thanos Query endpoints. The
// operator turns it into a StatefulSet.
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
	Decoding          `json:"-"`

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

// ThanosRulerStatus is what the operator observed of a ThanosRuler.
type ThanosRulerStatus struct {
	WorkloadStatus `json:",inline"`
}

// ThanosRulerSpec is what the user wants of a Thanos Ruler.
type ThanosRulerSpec struct {
	WorkloadFields `json:",inline"`

	// Labels that alerts lose before they are sent, in addition to `thanos_ruler_replica`.
	//
	// +optional
	AlertDropLabels []string `json:"alertDropLabels,omitempty"`

	// External URL of Thanos Query, for links in alerts.
	//
	// +optional
	AlertQueryURL string `json:"alertQueryUrl,omitempty"`

	// Path of a file with relabeling steps for alerts. It wins over `alertRelabelConfigs`.
	//
	// +optional
	AlertRelabelConfigFile string `json:"alertRelabelConfigFile,omitempty"`

	// Secret key with a YAML list of relabeling steps for alerts.
	//
	// +optional
	AlertRelabelConfigs *corev1.SecretKeySelector `json:"alertRelabelConfigs,omitempty"`

	// Secret key with the list of Alertmanagers. It wins over `alertmanagersUrl`.
	//
	// +optional
	AlertmanagersConfig *corev1.SecretKeySelector `json:"alertmanagersConfig,omitempty"`

	// URLs of Alertmanagers. The prefix `dns+` or `dnssrv+` of the protocol switches discovery by DNS on.
	//
	// +optional
	AlertmanagersURL []string `json:"alertmanagersUrl,omitempty"`

	// Feature flags of the program to switch on. They may change or vanish with any version.
	//
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	EnableFeatures []string `json:"enableFeatures,omitempty"`

	// Name of a label that is set on all samples, alerts and rules to the namespace of the object they come
	// from, so that tenants cannot pose as each other.
	//
	// +optional
	EnforcedNamespaceLabel string `json:"enforcedNamespaceLabel,omitempty"`

	// Time between two evaluations where a rule group does not say.
	//
	// +kubebuilder:default:="15s"
	// +optional
	EvaluationInterval Duration `json:"evaluationInterval,omitempty"`

	// Objects that `enforcedNamespaceLabel` does not apply to.
	//
	// +optional
	ExcludedFromEnforcement []ObjectReference `json:"excludedFromEnforcement,omitempty"`

	// URL under which users reach the ruler, for links.
	//
	// +optional
	ExternalPrefix string `json:"externalPrefix,omitempty"`

	// TLS settings of the gRPC API.
	//
	// +optional
	GRPCServerTLSConfig *GRPCServerTLSConfig `json:"grpcServerTlsConfig,omitempty"`

	// External labels of the series and alerts of the ruler, in addition to `thanos_ruler_replica` with the pod
	// name, which alerts lose again.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Secret key with the configuration of the object storage that blocks are uploaded to.
	//
	// +optional
	ObjectStorageConfig *corev1.SecretKeySelector `json:"objectStorageConfig,omitempty"`

	// Path of a file with the configuration of the object storage. It wins over `objectStorageConfig`.
	//
	// +optional
	ObjectStorageConfigFile string `json:"objectStorageConfigFile,omitempty"`

	// PrometheusRules that `enforcedNamespaceLabel` does not apply to. Deprecated: use
	// `excludedFromEnforcement`.
	//
	// +optional
	PrometheusRulesExcludedFromEnforce []PrometheusRuleExcludeConfig `json:"prometheusRulesExcludedFromEnforce,omitempty"`

	// Secret key with the list of query endpoints. It wins over `queryEndpoints`.
	//
	// +optional
	QueryConfig *corev1.SecretKeySelector `json:"queryConfig,omitempty"`

	// Addresses of Thanos Query that rules are evaluated against.
	//
	// +optional
	QueryEndpoints []string `json:"queryEndpoints,omitempty"`

	// Endpoints to send series to. If there is one, the ruler keeps no local storage.
	//
	// +optional
	RemoteWrite []RemoteWriteSpec `json:"remoteWrite,omitempty"`

	// Least time before an alert is sent again.
	//
	// +optional
	ResendDelay Duration `json:"resendDelay,omitempty"`

	// How long series are kept locally. No effect with remote write.
	//
	// +kubebuilder:default:="24h"
	// +optional
	Retention Duration `json:"retention,omitempty"`

	// How many rules are evaluated at a time.
	//
	// +kubebuilder:validation:Minimum=1
	// +optional
	RuleConcurrentEval *int32 `json:"ruleConcurrentEval,omitempty"`

	// Least time between the restored state of an alert and its firing; only for alerts whose `for` is longer.
	//
	// +optional
	RuleGracePeriod Duration `json:"ruleGracePeriod,omitempty"`

	// Labels of the namespaces to look for PrometheusRules in. Unset means the object's own, an empty selector
	// all.
	//
	// +optional
	RuleNamespaceSelector *metav1.LabelSelector `json:"ruleNamespaceSelector,omitempty"`

	// Longest outage after which the state of pending alerts is restored.
	//
	// +optional
	RuleOutageTolerance Duration `json:"ruleOutageTolerance,omitempty"`

	// How far rule evaluation looks back from now where a group does not say (since Prometheus 2.53.0, Thanos
	// 0.38.0).
	//
	// +optional
	RuleQueryOffset Duration `json:"ruleQueryOffset,omitempty"`

	// Labels of the PrometheusRules to use. Unset selects none, an empty selector all.
	//
	// +optional
	RuleSelector *metav1.LabelSelector `json:"ruleSelector,omitempty"`

	// How pods are spread over the cluster.
	//
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Secret key with the tracing configuration of Thanos.
	//
	// +optional
	TracingConfig *corev1.SecretKeySelector `json:"tracingConfig,omitempty"`

	// Path of a file with the tracing configuration. It wins over `tracingConfig`.
	//
	// +optional
	TracingConfigFile string `json:"tracingConfigFile,omitempty"`

	// Settings of the HTTP server.
	//
	// +optional
	Web *ThanosRulerWebSpec `json:"web,omitempty"`
}

// ThanosRulerWebSpec is the HTTP server of Thanos Ruler.
type ThanosRulerWebSpec struct {
	WebConfigFileFields `json:",inline"`
}

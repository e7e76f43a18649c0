package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PrometheusRule holds groups of alerting and recording rules. Prometheus and ThanosRuler objects pick it up by
// its labels. A rule that does not parse rejects the whole object.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=prometheusrules,shortName=promrule
// +kubebuilder:subresource:status
type PrometheusRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Decoding          `json:"-"`

	// Spec is what the user wants.
	//
	// +required
	Spec PrometheusRuleSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// PrometheusRuleList is a list of PrometheusRule objects.
//
// +kubebuilder:object:root=true
type PrometheusRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []PrometheusRule `json:"items"`
}

// PrometheusRuleSpec is the content of a rule file.
type PrometheusRuleSpec struct {
	// Groups of rules. Names must be unique within the object.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Groups []RuleGroup `json:"groups,omitempty"`
}

// RuleGroup is a list of rules that are evaluated one after the other, at the same interval.
type RuleGroup struct {
	// Time between two evaluations. Empty means the `evaluationInterval` of the Prometheus.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// Labels to add to every rule of the group, unless the rule sets them (since Prometheus 3.0.0).
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// How many alerts or series a rule may produce; 0 means no limit (since Prometheus 2.31.0, Thanos 0.24.0).
	//
	// +optional
	Limit *int `json:"limit,omitempty"`

	// Name of the group.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// What Thanos Ruler does with incomplete query results: `abort` or `warn`. Prometheus rejects the key, so
	// it is left out there.
	//
	// +kubebuilder:validation:Pattern=`^(?i)(abort|warn)?$`
	// +optional
	PartialResponseStrategy string `json:"partial_response_strategy,omitempty"`

	// How far evaluation looks back from now (since Prometheus 2.53.0, Thanos 0.38.0). Empty means the
	// `ruleQueryOffset` of the Prometheus.
	//
	// +optional
	QueryOffset Duration `json:"query_offset,omitempty"`

	// Alerting and recording rules, in order of evaluation.
	//
	// +optional
	Rules []Rule `json:"rules,omitempty"`
}

// Rule is an alerting rule (`alert` is set) or a recording rule (`record` is set); exactly one of the two.
type Rule struct {
	// Name of the alert: a valid label value.
	//
	// +optional
	Alert string `json:"alert,omitempty"`

	// Annotations of the alert; values may be templates. Only with `alert`.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// PromQL expression to evaluate. A number is taken as its text.
	//
	// +required
	Expr intstr.IntOrString `json:"expr"`

	// How long the expression must hold before the alert fires. Only with `alert`.
	//
	// +optional
	For Duration `json:"for,omitempty"`

	// How long the alert keeps firing after the expression stopped holding (since Prometheus 2.42.0, Thanos
	// 0.34.0). Only with `alert`.
	//
	// +optional
	KeepFiringFor NonEmptyDuration `json:"keep_firing_for,omitempty"`

	// Labels to add to the alert or series, overwriting equal names.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Name of the series to write: a valid metric name.
	//
	// +optional
	Record string `json:"record,omitempty"`
}

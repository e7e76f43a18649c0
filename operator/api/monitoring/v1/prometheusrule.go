package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PrometheusRule is a kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=prometheusrules,shortName=promrule
// +kubebuilder:subresource:status
type PrometheusRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

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

// PrometheusRuleSpec holds settings.
type PrometheusRuleSpec struct {
	// Groups is a setting.
	//
	// +listType=map
	// +listMapKey=name
	// +optional
	Groups []RuleGroup `json:"groups,omitempty"`
}

// RuleGroup holds settings.
type RuleGroup struct {
	// Interval is a setting.
	//
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// Labels is a setting.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Limit is a setting.
	//
	// +optional
	Limit *int `json:"limit,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// PartialResponseStrategy is a setting.
	//
	// +kubebuilder:validation:Pattern=`^(?i)(abort|warn)?$`
	// +optional
	PartialResponseStrategy string `json:"partial_response_strategy,omitempty"`

	// QueryOffset is a setting.
	//
	// +optional
	QueryOffset Duration `json:"query_offset,omitempty"`

	// Rules is a setting.
	//
	// +optional
	Rules []Rule `json:"rules,omitempty"`
}

// Rule holds settings.
type Rule struct {
	// Alert is a setting.
	//
	// +optional
	Alert string `json:"alert,omitempty"`

	// Annotations is a setting.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Expr is a setting.
	//
	// +required
	Expr intstr.IntOrString `json:"expr"`

	// For is a setting.
	//
	// +optional
	For Duration `json:"for,omitempty"`

	// KeepFiringFor is a setting.
	//
	// +optional
	KeepFiringFor NonEmptyDuration `json:"keep_firing_for,omitempty"`

	// Labels is a setting.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Record is a setting.
	//
	// +optional
	Record string `json:"record,omitempty"`
}

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigResourceStatus holds settings.
type ConfigResourceStatus struct {
	// Bindings is a setting.
	//
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	// +listMapKey=name
	// +listMapKey=namespace
	// +optional
	Bindings []WorkloadBinding `json:"bindings,omitempty"`
}

// WorkloadBinding holds settings.
type WorkloadBinding struct {
	// Conditions is a setting.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []ConfigResourceCondition `json:"conditions,omitempty"`

	// Group is a setting.
	//
	// +kubebuilder:validation:Enum="monitoring.coreos.com"
	// +required
	Group string `json:"group"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Namespace is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Namespace string `json:"namespace"`

	// Resource is a setting.
	//
	// +kubebuilder:validation:Enum=prometheuses;prometheusagents;thanosrulers;alertmanagers
	// +required
	Resource string `json:"resource"`
}

// ConfigResourceCondition holds settings.
type ConfigResourceCondition struct {
	// LastTransitionTime is a setting.
	//
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`

	// Message is a setting.
	//
	// +optional
	Message string `json:"message,omitempty"`

	// ObservedGeneration is a setting.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Reason is a setting.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// Status is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Status ConditionStatus `json:"status"`

	// Type is a setting.
	//
	// +kubebuilder:validation:Enum=Accepted
	// +kubebuilder:validation:MinLength=1
	// +required
	Type ConditionType `json:"type"`
}

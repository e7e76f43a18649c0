package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigResourceStatus tells which workloads select a configuration object and whether they use it.
type ConfigResourceStatus struct {
	// Workloads that select the object.
	//
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	// +listMapKey=name
	// +listMapKey=namespace
	// +optional
	Bindings []WorkloadBinding `json:"bindings,omitempty"`
}

// WorkloadBinding is the relation of a configuration object to one workload that selects it.
type WorkloadBinding struct {
	// Conditions of the relation: Accepted.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []ConfigResourceCondition `json:"conditions,omitempty"`

	// API group of the workload.
	//
	// +kubebuilder:validation:Enum="monitoring.coreos.com"
	// +required
	Group string `json:"group"`

	// Name of the workload.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`

	// Namespace of the workload.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Namespace string `json:"namespace"`

	// Resource (plural) of the workload.
	//
	// +kubebuilder:validation:Enum=prometheuses;prometheusagents;thanosrulers;alertmanagers
	// +required
	Resource string `json:"resource"`
}

// ConfigResourceCondition is one aspect of a WorkloadBinding.
type ConfigResourceCondition struct {
	// When the status changed last.
	//
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`

	// Details for people.
	//
	// +optional
	Message string `json:"message,omitempty"`

	// Generation of the object the condition is about. If it is behind, the condition is out of date.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Reason of the last change as one word, for programs.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// Truth value of the condition.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Status ConditionStatus `json:"status"`

	// Aspect the condition is about.
	//
	// +kubebuilder:validation:Enum=Accepted
	// +kubebuilder:validation:MinLength=1
	// +required
	Type ConditionType `json:"type"`
}

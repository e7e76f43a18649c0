package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionType names an aspect of the state of an object.
type ConditionType string

// Condition types the operator writes.
const (
	// Available tells whether all wanted pods are up and ready.
	Available ConditionType = "Available"
	// Reconciled tells whether the last reconcile brought the cluster to the wanted state.
	Reconciled ConditionType = "Reconciled"
	// Accepted tells whether a workload uses a monitor, rule or other configuration object.
	Accepted ConditionType = "Accepted"
)

// ConditionStatus is the truth value of a condition.
type ConditionStatus string

// Values of ConditionStatus. Degraded means that some but not all pods of a
// workload are ready.
const (
	ConditionTrue     ConditionStatus = "True"
	ConditionDegraded ConditionStatus = "Degraded"
	ConditionFalse    ConditionStatus = "False"
	ConditionUnknown  ConditionStatus = "Unknown"
)

// WorkloadStatus holds settings.
type WorkloadStatus struct {
	// AvailableReplicas is a setting.
	//
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Conditions is a setting.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// Paused is a setting.
	//
	// +optional
	Paused bool `json:"paused"`

	// Replicas is a setting.
	//
	// +optional
	Replicas int32 `json:"replicas"`

	// UnavailableReplicas is a setting.
	//
	// +optional
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// UpdatedReplicas is a setting.
	//
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
}

// PrometheusStatus holds settings.
type PrometheusStatus struct {
	WorkloadStatus `json:",inline"`

	// Selector is a setting.
	//
	// +optional
	Selector string `json:"selector,omitempty"`

	// ShardStatuses is a setting.
	//
	// +listType=map
	// +listMapKey=shardID
	// +optional
	ShardStatuses []ShardStatus `json:"shardStatuses,omitempty"`

	// Shards is a setting.
	//
	// +optional
	Shards int32 `json:"shards,omitempty"`
}

// ShardStatus holds settings.
type ShardStatus struct {
	// AvailableReplicas is a setting.
	//
	// +required
	AvailableReplicas int32 `json:"availableReplicas"`

	// Replicas is a setting.
	//
	// +required
	Replicas int32 `json:"replicas"`

	// ShardID is a setting.
	//
	// +required
	ShardID string `json:"shardID"`

	// UnavailableReplicas is a setting.
	//
	// +required
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// UpdatedReplicas is a setting.
	//
	// +required
	UpdatedReplicas int32 `json:"updatedReplicas"`
}

// Condition holds settings.
type Condition struct {
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
	// +kubebuilder:validation:MinLength=1
	// +required
	Type ConditionType `json:"type"`
}

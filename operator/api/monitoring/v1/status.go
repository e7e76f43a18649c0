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
	// ConfigApplied: the pods run the configuration that was written last.
	ConfigApplied ConditionType = "ConfigApplied"
	// Balanced: the number of shards follows the series. Only with autoscaling.
	Balanced ConditionType = "Balanced"
	// ScaleDownBlocked: fewer shards would be enough, but their data would be lost. Only with autoscaling, and if it is so.
	ScaleDownBlocked ConditionType = "ScaleDownBlocked"
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

// WorkloadStatus is the state of the pods of a workload.
type WorkloadStatus struct {
	// Pods that are ready. `minReadySeconds` does not count.
	//
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Conditions of the object: Available and Reconciled.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// Whether the object is paused.
	//
	// +optional
	Paused bool `json:"paused"`

	// Pods that exist.
	//
	// +optional
	Replicas int32 `json:"replicas"`

	// Pods that are not ready.
	//
	// +optional
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// Pods that run the wanted version of the pod template.
	//
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
}

// PrometheusStatus is what the operator observed of a Prometheus or PrometheusAgent; the counts are over all
// shards.
type PrometheusStatus struct {
	WorkloadStatus `json:",inline"`

	// Selector of the pods as text, for autoscalers.
	//
	// +optional
	Selector string `json:"selector,omitempty"`

	// State of each shard.
	//
	// +listType=map
	// +listMapKey=shardID
	// +optional
	ShardStatuses []ShardStatus `json:"shardStatuses,omitempty"`

	// Number of shards, for autoscalers.
	//
	// +optional
	Shards int32 `json:"shards,omitempty"`
}

// ShardStatus is the state of the pods of one shard.
type ShardStatus struct {
	// Pods that are ready. `minReadySeconds` does not count.
	//
	// +required
	AvailableReplicas int32 `json:"availableReplicas"`

	// Pods of the shard that exist.
	//
	// +required
	Replicas int32 `json:"replicas"`

	// Number of the shard as text.
	//
	// +required
	ShardID string `json:"shardID"`

	// Pods that are not ready.
	//
	// +required
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// Pods that run the wanted version of the pod template.
	//
	// +required
	UpdatedReplicas int32 `json:"updatedReplicas"`
}

// Condition is one aspect of the state of an object.
type Condition struct {
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
	// +kubebuilder:validation:MinLength=1
	// +required
	Type ConditionType `json:"type"`
}

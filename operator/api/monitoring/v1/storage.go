package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StorageSpec holds settings.
type StorageSpec struct {
	// DisableMountSubPath is a setting.
	//
	// +optional
	DisableMountSubPath bool `json:"disableMountSubPath,omitempty"`

	// EmptyDir is a setting.
	//
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// Ephemeral is a setting.
	//
	// +optional
	Ephemeral *corev1.EphemeralVolumeSource `json:"ephemeral,omitempty"`

	// VolumeClaimTemplate is a setting.
	//
	// +optional
	VolumeClaimTemplate EmbeddedPersistentVolumeClaim `json:"volumeClaimTemplate,omitempty"`
}

// EmbeddedPersistentVolumeClaim holds settings.
type EmbeddedPersistentVolumeClaim struct {
	metav1.TypeMeta `json:",inline"`

	// Metadata is a setting.
	//
	// +optional
	Metadata EmbeddedObjectMetadata `json:"metadata,omitempty"`

	// Spec is a setting.
	//
	// +optional
	Spec corev1.PersistentVolumeClaimSpec `json:"spec,omitempty"`

	// Status is a setting.
	//
	// +optional
	Status corev1.PersistentVolumeClaimStatus `json:"status,omitempty"`
}

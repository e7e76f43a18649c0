package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StorageSpec is the volume for the data. The first set of `emptyDir`, `ephemeral` and `volumeClaimTemplate` is
// used.
type StorageSpec struct {
	// Whether the volume is mounted without a subdirectory. Deprecated: it exists for data written by very old
	// versions.
	//
	// +optional
	DisableMountSubPath bool `json:"disableMountSubPath,omitempty"`

	// A directory that lives as long as the pod.
	//
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// A volume claim that lives as long as the pod.
	//
	// +optional
	Ephemeral *corev1.EphemeralVolumeSource `json:"ephemeral,omitempty"`

	// A volume claim per pod that outlives the pod.
	//
	// +optional
	VolumeClaimTemplate EmbeddedPersistentVolumeClaim `json:"volumeClaimTemplate,omitempty"`
}

// EmbeddedPersistentVolumeClaim is the template of the volume claims of a StatefulSet.
type EmbeddedPersistentVolumeClaim struct {
	metav1.TypeMeta `json:",inline"`

	// Name, labels and annotations of the volume claims.
	//
	// +optional
	Metadata EmbeddedObjectMetadata `json:"metadata,omitempty"`

	// Spec of the volume claims. The default access mode is ReadWriteOnce.
	//
	// +optional
	Spec corev1.PersistentVolumeClaimSpec `json:"spec,omitempty"`

	// Accepted for compatibility; has no effect.
	//
	// +optional
	Status corev1.PersistentVolumeClaimStatus `json:"status,omitempty"`
}

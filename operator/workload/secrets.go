package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxSecretBytes is the maximum size of the keys and values of one Secret: the limit of
// the API server minus a reserve for metadata.
const MaxSecretBytes = 1<<20 - 50000

// Secret returns a Secret of the workload.
func (b *Base) Secret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: b.ObjectMeta(name),
		Data:       data,
	}
}

// SecretProjection returns a projection of all keys of a Secret.
func SecretProjection(name string, optional *bool) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional,
	}}
}

package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxSecretBytes is how much keys and values of one Secret may weigh: the limit
// of the API server less some room for metadata.
const MaxSecretBytes = 1<<20 - 50000

// Secret is a Secret of the workload.
func (b *Base) Secret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: b.ObjectMeta(name),
		Data:       data,
	}
}

// NewWebConfigSecret carries the web configuration; its file is empty without
// spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradicts itself.
func (b *Base) NewWebConfigSecret(w WebConfig) (*corev1.Secret, error) {
	file, err := w.File()
	if err != nil {
		return nil, err
	}
	return b.Secret(b.WebConfigSecretName(), map[string][]byte{webConfigKey: file}), nil
}

// SecretProjection shows all keys of a Secret in a projected volume.
func SecretProjection(name string, optional *bool) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional,
	}}
}

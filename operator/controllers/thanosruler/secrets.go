package thanosruler

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RemoteWriteKey is the key of the configuration Secret.
const RemoteWriteKey = "remote-write.yaml"

// ConfigSecret returns the Secret with the remote-write configuration. It exists for
// every ThanosRuler, because every pod mounts it.
func (o *Owner) ConfigSecret(remoteWrite []byte) *corev1.Secret {
	s := o.Secret(o.ConfigSecretName(), map[string][]byte{RemoteWriteKey: remoteWrite})
	s.OwnerReferences = []metav1.OwnerReference{o.PlainReference()}
	return s
}

// WebConfigSecret returns the Secret with the web configuration. Its file is empty
// without spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradictory.
func (o *Owner) WebConfigSecret() (*corev1.Secret, error) { return o.NewWebConfigSecret(o.webConfig()) }

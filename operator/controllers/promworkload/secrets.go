package promworkload

import (
	corev1 "k8s.io/api/core/v1"
)

// ConfigKey is the key of the configuration Secret.
const ConfigKey = "prometheus.yaml.gz"

// ConfigSecret returns the Secret with the configuration. gz is empty if the user
// provides the configuration. The Secret must exist even then, because the pods mount it.
func (b *Builder) ConfigSecret(gz []byte) *corev1.Secret {
	return b.Secret(b.ConfigSecretName(), map[string][]byte{ConfigKey: gz})
}

// ThanosHTTPClientSecret returns the Secret with the configuration that the sidecar uses
// to connect to Prometheus. It exists for every server, so that a sidecar added later
// does not have to wait for it.
func (b *Builder) ThanosHTTPClientSecret() *corev1.Secret {
	return b.Secret(b.thanosHTTPClientSecretName(), map[string][]byte{thanosClientFile: []byte(thanosClientContent)})
}

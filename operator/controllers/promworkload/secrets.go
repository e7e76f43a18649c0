package promworkload

import (
	corev1 "k8s.io/api/core/v1"
)

// ConfigKey is the key of the configuration Secret.
const ConfigKey = "prometheus.yaml.gz"

// ConfigSecret carries the configuration. gz is empty where the user provides
// the configuration; the Secret must exist for the pods all the same.
func (o *Owner) ConfigSecret(gz []byte) *corev1.Secret {
	return o.Secret(o.ConfigSecretName(), map[string][]byte{ConfigKey: gz})
}

// WebConfigSecret carries the web configuration; its file is empty without
// spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradicts itself.
func (o *Owner) WebConfigSecret() (*corev1.Secret, error) { return o.NewWebConfigSecret(o.webConfig()) }

// ThanosHTTPClientSecret is how the sidecar talks to Prometheus. It exists for
// every server, so that adding a sidecar later never waits for it.
func (o *Owner) ThanosHTTPClientSecret() *corev1.Secret {
	return o.Secret(o.ThanosHTTPClientSecretName(), map[string][]byte{thanosClientFile: []byte(thanosClientContent)})
}

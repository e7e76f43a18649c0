package promworkload

import (
	corev1 "k8s.io/api/core/v1"
)

// ConfigKey is the key of the configuration Secret.
const ConfigKey = "prometheus.yaml.gz"

// ConfigSecret returns the Secret with the configuration. gz is empty if the user
// provides the configuration. The Secret must exist even then, because the pods mount it.
func (o *Owner) ConfigSecret(gz []byte) *corev1.Secret {
	return o.Secret(o.ConfigSecretName(), map[string][]byte{ConfigKey: gz})
}

// WebConfigSecret returns the Secret with the web configuration. Its file is empty
// without spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradictory.
func (o *Owner) WebConfigSecret() (*corev1.Secret, error) { return o.NewWebConfigSecret(o.webConfig()) }

// ThanosHTTPClientSecret returns the Secret with the configuration that the sidecar uses
// to connect to Prometheus. It exists for every server, so that a sidecar added later
// does not have to wait for it.
func (o *Owner) ThanosHTTPClientSecret() *corev1.Secret {
	return o.Secret(o.ThanosHTTPClientSecretName(), map[string][]byte{thanosClientFile: []byte(thanosClientContent)})
}

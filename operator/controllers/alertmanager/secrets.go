package alertmanager

import (
	corev1 "k8s.io/api/core/v1"
)

// ConfigKey is the key of the configuration in its Secret.
const ConfigKey = "alertmanager.yaml.gz"

// ClusterTLSSecretName returns the name of the Secret with the file of spec.clusterTLS.
func (o *Owner) ClusterTLSSecretName() string { return o.PrefixedName() + "-cluster-tls-config" }

// WebConfigSecret returns the Secret with the web configuration. Its file is empty
// without spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradictory.
func (o *Owner) WebConfigSecret() (*corev1.Secret, error) { return o.NewWebConfigSecret(o.webConfig()) }

// ClusterTLSSecret returns the Secret with the file of spec.clusterTLS. It is empty
// without the field.
//
// Errors: spec.clusterTLS is incomplete or contradictory.
func (o *Owner) ClusterTLSSecret() (*corev1.Secret, error) {
	return o.NewClusterTLSSecret(o.clusterTLS())
}

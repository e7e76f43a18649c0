package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// ConfigKey is the key of the configuration Secret.
const ConfigKey = "prometheus.yaml.gz"

func (o *Owner) secret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: o.objectMeta(name),
		Data:       data,
	}
}

// ConfigSecret carries the configuration. gz is empty where the user provides
// the configuration; the Secret must exist for the pods all the same.
func (o *Owner) ConfigSecret(gz []byte) *corev1.Secret {
	return o.secret(o.ConfigSecretName(), map[string][]byte{ConfigKey: gz})
}

// MaxConfigBytes is how long the compressed configuration in one Secret may be, and
// one part of it.
const MaxConfigBytes = maxAssetBytes

// ConfigSecretInParts carries the beginning of a configuration in parts and their list.
func (o *Owner) ConfigSecretInParts(gz, list []byte) *corev1.Secret {
	return o.secret(o.ConfigSecretName(), map[string][]byte{ConfigKey: gz, parts.ListName: list})
}

// ConfigPartSecret carries the i-th part.
func (o *Owner) ConfigPartSecret(i int, key string, content []byte) *corev1.Secret {
	return o.secret(o.ConfigPartName(i), map[string][]byte{key: content})
}

// WebConfigSecret carries the web configuration; its file is empty without
// spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradicts itself.
func (o *Owner) WebConfigSecret() (*corev1.Secret, error) {
	file, err := o.webConfig().File()
	if err != nil {
		return nil, err
	}
	return o.secret(o.WebConfigSecretName(), map[string][]byte{webConfigKey: file}), nil
}

// ThanosHTTPClientSecret is how the sidecar talks to Prometheus. It exists for
// every server, so that adding a sidecar later never waits for it.
func (o *Owner) ThanosHTTPClientSecret() *corev1.Secret {
	return o.secret(o.ThanosHTTPClientSecretName(), map[string][]byte{thanosClientFile: []byte(thanosClientContent)})
}

// maxAssetBytes is how much keys and values of one Secret may weigh: the limit
// of the API server less some room for metadata.
const maxAssetBytes = 1<<20 - 50000

// RuleConfigMapMeta is the metadata of the i-th rule ConfigMap. The labels by
// which the operator finds it cannot be changed by its --labels.
func (o *Owner) RuleConfigMapMeta(i int) metav1.ObjectMeta {
	meta := o.objectMeta(o.RuleConfigMapName(i))
	meta.Labels = overlay(meta.Labels, managedBy, map[string]string{LabelRuleOwner: o.meta.Name})
	return meta
}

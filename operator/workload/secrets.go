package workload

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

const (
	// MaxConfigBytes is how long a compressed configuration in one Secret may be: what
	// the API server takes.
	MaxConfigBytes = 1 << 20
	// MaxPartBytes is how long one part may be; the list and the ends of the streams
	// must fit beside the first.
	MaxPartBytes = maxAssetBytes
)

// AnnotationConfigParts on a configuration Secret names the parts that its list
// names, by number.
const AnnotationConfigParts = "operator.prometheus.io/config-parts"

// ConfigSecretInParts carries the beginning of a configuration in parts, and what
// else is beside their list. numbers are those of the parts, sorted.
func (o *Owner) ConfigSecretInParts(files map[string][]byte, numbers []int) *corev1.Secret {
	s := o.secret(o.ConfigSecretName(), files)
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.Itoa(n)
	}
	s.Annotations = overlay(s.Annotations, map[string]string{AnnotationConfigParts: strings.Join(text, ",")})
	return s
}

// ConfigPartSecret carries the i-th part.
func (o *Owner) ConfigPartSecret(i int, key string, content []byte) *corev1.Secret {
	return o.secret(o.ConfigPartName(i), map[string][]byte{key: content})
}

// Identity is the metadata of an object of the owner that is to be removed.
func (o *Owner) Identity(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.meta.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{o.controllerReference()},
	}
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

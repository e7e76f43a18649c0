package apply

import (
	"crypto/sha256"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// DigestSecret returns the Secret without its values, so that caches hold no secret
// content. StringData, which the API server never returns, has their SHA-256 instead. The
// function is idempotent, because informers may transform an object twice.
func DigestSecret(s *corev1.Secret) *corev1.Secret {
	if s.StringData != nil {
		return s
	}
	return digestedSecret(s, digests(s.Data))
}

func digestedSecret(s *corev1.Secret, sums map[string]string) *corev1.Secret {
	out := *s
	out.Data, out.StringData = nil, sums
	out.ManagedFields = nil
	return &out
}

// DigestConfigMap returns the ConfigMap with the SHA-256 of its texts in Data, and without the values in BinaryData:
// the operator has the texts of rules in memory already, compressed. [client.HasDigests] is true for it. The function
// is idempotent.
func DigestConfigMap(m *corev1.ConfigMap) *corev1.ConfigMap {
	switch {
	case !client.HasDigests(m):
		return digestedConfigMap(m, digests(m.Data))
	case m.ManagedFields == nil:
		return m
	}
	out := *m
	out.ManagedFields = nil
	return &out
}

func digestedConfigMap(m *corev1.ConfigMap, sums map[string]string) *corev1.ConfigMap {
	out := *m
	out.Data, out.BinaryData, out.ManagedFields = sums, client.DigestsOnly, nil
	if len(m.BinaryData) > 0 {
		out.BinaryData = maps.Clone(client.DigestsOnly)
		for name := range m.BinaryData {
			out.BinaryData[name] = nil
		}
	}
	return &out
}

// digests returns the SHA-256 of each value.
func digests[Value []byte | string](data map[string]Value) map[string]string {
	out := make(map[string]string, len(data))
	for k, v := range data {
		out[k] = DigestValue([]byte(v))
	}
	return out
}

// DigestValue returns the SHA-256 of a value, which cached Secrets and ConfigMaps have instead of it.
func DigestValue(value []byte) string {
	sum := sha256.Sum256(value)
	return string(sum[:])
}

// secretOf returns the kind of a Secret that has these digests. The values are large, and their digests are needed for
// the comparison, for the detection of conflicts and for the record of the write.
func (w *Writer) secretOf(want *corev1.Secret, sums map[string]string) *kind[*corev1.Secret] {
	out := w.secrets
	out.same = func(want, live *corev1.Secret) bool { return sameMeta(want, live) && maps.Equal(sums, live.StringData) }
	out.summary = func(want *corev1.Secret) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: want.ObjectMeta, Type: want.Type, Immutable: want.Immutable, Data: binary(sums)}
	}
	out.keep = func(got *corev1.Secret) *corev1.Secret {
		if SameMemory(got.Data, want.Data) {
			return digestedSecret(got, maps.Clone(sums))
		}
		return DigestSecret(got)
	}
	return &out
}

// configMapOf is like secretOf for a ConfigMap whose Data has digests. values returns the texts if it must be written.
func (w *Writer) configMapOf(values func() map[string]Value) *kind[*corev1.ConfigMap] {
	out := w.configMaps
	out.api = func(namespace string) endpoint[*corev1.ConfigMap] {
		return digestEndpoint{w.configMaps.api(namespace), values}
	}
	return &out
}

// SameMemory reports whether two maps are the same and not only equal.
func SameMemory[Value any](a, b map[string]Value) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// binary returns digests as values that need not be UTF-8.
func binary(digests map[string]string) map[string][]byte {
	out := make(map[string][]byte, len(digests))
	for key, sum := range digests {
		out[key] = []byte(sum)
	}
	return out
}

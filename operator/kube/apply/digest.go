package apply

import (
	"crypto/sha256"
	"maps"
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// DigestSecret returns the Secret without its values, so that caches hold no secret
// content. StringData, which the API server never returns, has their SHA-256 instead. The
// function is idempotent, because informers may transform an object twice.
func DigestSecret(s *corev1.Secret) *corev1.Secret {
	if s.StringData != nil {
		return s
	}
	return digested(s, digests(s.Data))
}

func digested(s *corev1.Secret, sums map[string]string) *corev1.Secret {
	out := *s
	out.Data, out.StringData = nil, sums
	out.ManagedFields = nil
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

// DigestValue returns the SHA-256 of a value, which DigestSecret has in StringData instead of it.
func DigestValue(value []byte) string {
	sum := sha256.Sum256(value)
	return string(sum[:])
}

// sums has the digests of the values of Secrets and ConfigMaps while they are written. The values are large and are
// asked for several times during one write. It is safe for concurrent use.
type sums struct {
	mu sync.Mutex
	of map[uintptr]map[string]string // by address of the values, which are in use until they are forgotten
}

// know records the digests of values, which must not change until forget is called.
func know[Value []byte | string](s *sums, values map[string]Value, digests map[string]string) (forget func()) {
	at := reflect.ValueOf(values).Pointer()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[uintptr]map[string]string{}
	}
	s.of[at] = digests
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.of, at)
	}
}

// digestsIn returns the digests of values. Callers must not modify them.
func digestsIn[Value []byte | string](s *sums, values map[string]Value) map[string]string {
	s.mu.Lock()
	known, ok := s.of[reflect.ValueOf(values).Pointer()]
	s.mu.Unlock()
	if ok {
		return known
	}
	return digests(values)
}

// sameSecret reports whether live, as returned by DigestSecret, is as wanted.
func (s *sums) sameSecret(want, live *corev1.Secret) bool {
	return sameMeta(want, live) && maps.Equal(digestsIn(s, want.Data), live.StringData)
}

// secret returns a Secret with digests instead of the values.
func (s *sums) secret(want *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: want.ObjectMeta, Type: want.Type, Immutable: want.Immutable, Data: binary(digestsIn(s, want.Data))}
}

// configMap returns a ConfigMap with digests instead of the values.
func (s *sums) configMap(want *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: want.ObjectMeta, Immutable: want.Immutable, BinaryData: binary(digestsIn(s, want.Data))}
}

// binary returns digests as values that need not be UTF-8.
func binary(digests map[string]string) map[string][]byte {
	out := make(map[string][]byte, len(digests))
	for key, sum := range digests {
		out[key] = []byte(sum)
	}
	return out
}

// trimSecret is DigestSecret.
func (s *sums) trimSecret(got *corev1.Secret) *corev1.Secret {
	if got.StringData != nil {
		return got
	}
	return digested(got, maps.Clone(digestsIn(s, got.Data)))
}

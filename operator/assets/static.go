package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Static is a Reader over manifests, for rendering without a cluster and for
// tests. The zero value is empty and ready to use.
type Static struct {
	objects map[Ref]Object
}

// AddSecret makes a Secret known. stringData overlays data, as the API server does it.
func (s *Static) AddSecret(o *corev1.Secret) {
	values := maps.Clone(o.Data)
	if values == nil {
		values = map[string][]byte{}
	}
	for k, v := range o.StringData {
		values[k] = []byte(v)
	}
	s.add(Ref{Secret, o.Namespace, o.Name}, o.ResourceVersion, values)
}

// AddConfigMap makes a ConfigMap known.
func (s *Static) AddConfigMap(o *corev1.ConfigMap) {
	values := map[string][]byte{}
	for k, v := range o.Data {
		values[k] = []byte(v)
	}
	s.add(Ref{ConfigMap, o.Namespace, o.Name}, o.ResourceVersion, values)
}

func (s *Static) add(ref Ref, version string, values map[string][]byte) {
	if s.objects == nil {
		s.objects = map[Ref]Object{}
	}
	if version == "" {
		version = contentVersion(values)
	}
	s.objects[ref] = Object{Version: version, Values: values}
}

// Object implements [Reader].
func (s *Static) Object(ref Ref) (Object, error) {
	if o, ok := s.objects[ref]; ok {
		return o, nil
	}
	return Object{}, &NotFoundError{Ref: ref}
}

// contentVersion replaces a missing resourceVersion.
func contentVersion(values map[string][]byte) string {
	h := sha256.New()
	for _, k := range sortedKeys(values) {
		h.Write([]byte(k))
		h.Write([]byte{0})
		h.Write(values[k])
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func sortedKeys(m map[string][]byte) []string {
	return slices.Sorted(maps.Keys(m))
}

package assets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Static is a Reader of manifests for rendering without a cluster and for tests. The zero
// value is empty and ready to use.
type Static struct {
	// Otherwise (optional) returns a substitute for an object that was not added. If ok
	// is false, the object does not exist.
	Otherwise func(Ref) (o Object, ok bool)

	objects map[Ref]Object
}

// AddSecret adds a Secret. As in the API server, stringData overrides data.
func (s *Static) AddSecret(o *corev1.Secret) {
	values := maps.Clone(o.Data)
	if values == nil {
		values = map[string][]byte{}
	}
	for k, v := range o.StringData {
		values[k] = []byte(v)
	}
	s.add(Ref{Secret, o.Namespace, o.Name}, Object{Version: o.ResourceVersion, Values: values})
}

// AddConfigMap adds a ConfigMap.
func (s *Static) AddConfigMap(o *corev1.ConfigMap) {
	values := map[string][]byte{}
	for k, v := range o.Data {
		values[k] = []byte(v)
	}
	s.add(Ref{ConfigMap, o.Namespace, o.Name}, Object{Version: o.ResourceVersion, Values: values, Binary: o.BinaryData})
}

func (s *Static) add(ref Ref, o Object) {
	if s.objects == nil {
		s.objects = map[Ref]Object{}
	}
	if o.Version == "" {
		o.Version = contentVersion(o.Values, o.Binary)
	}
	s.objects[ref] = o
}

// Object implements [Reader].
func (s *Static) Object(ref Ref) (Object, error) {
	if o, ok := s.objects[ref]; ok {
		return o, nil
	}
	if s.Otherwise != nil {
		if o, ok := s.Otherwise(ref); ok {
			return o, nil
		}
	}
	return Object{}, &NotFoundError{Ref: ref}
}

// Keys returns the sorted keys of an object, none if it does not exist.
func (s *Static) Keys(ref Ref) []string {
	o, err := s.Object(ref)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(merged(o.Values, o.Binary)))
}

// Namespaces returns the sorted namespaces with an added object of a kind and name.
func (s *Static) Namespaces(kind Kind, name string) (out []string) {
	for ref := range s.objects {
		if ref.Kind == kind && ref.Name == name {
			out = append(out, ref.Namespace)
		}
	}
	slices.Sort(out)
	return out
}

// Names returns the sorted names of the added objects of a kind in a namespace.
func (s *Static) Names(kind Kind, namespace string) (out []string) {
	for ref := range s.objects {
		if ref.Kind == kind && ref.Namespace == namespace {
			out = append(out, ref.Name)
		}
	}
	slices.Sort(out)
	return out
}

// All returns the added objects of a kind, sorted by namespace and name.
func (s *Static) All(kind Kind) (out []Ref) {
	for ref := range s.objects {
		if ref.Kind == kind {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, func(a, b Ref) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) })
	return out
}

func merged(a, b map[string][]byte) map[string][]byte {
	out := maps.Clone(b)
	if out == nil {
		return a
	}
	maps.Copy(out, a)
	return out
}

// contentVersion returns a hash of the content as a substitute for a missing resourceVersion.
func contentVersion(all ...map[string][]byte) string {
	h := sha256.New()
	for _, values := range all {
		for _, k := range sortedKeys(values) {
			h.Write([]byte(k))
			h.Write([]byte{0})
			h.Write(values[k])
			h.Write([]byte{0})
		}
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func sortedKeys(m map[string][]byte) []string {
	return slices.Sorted(maps.Keys(m))
}

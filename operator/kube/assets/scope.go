package assets

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Kind tells a Secret from a ConfigMap. The numbers appear in file names of
// TLS assets and must not change.
type Kind uint8

const (
	// Secret is a core/v1 Secret.
	Secret Kind = 0
	// ConfigMap is a core/v1 ConfigMap; a reference finds its data, not its binaryData.
	ConfigMap Kind = 1
)

// String spells the kind as users do.
func (k Kind) String() string {
	if k == ConfigMap {
		return "ConfigMap"
	}
	return "Secret"
}

// Ref names one Secret or ConfigMap.
type Ref struct {
	Kind      Kind
	Namespace string
	Name      string
}

// String is for messages: `Secret "ns/name"`.
func (r Ref) String() string {
	return fmt.Sprintf("%s %q", r.Kind, r.Namespace+"/"+r.Name)
}

// Compare orders references by kind, namespace and name.
func (r Ref) Compare(o Ref) int {
	if r.Kind != o.Kind {
		return int(r.Kind) - int(o.Kind)
	}
	if c := strings.Compare(r.Namespace, o.Namespace); c != 0 {
		return c
	}
	return strings.Compare(r.Name, o.Name)
}

// Object is the content of a Secret or ConfigMap at one version.
type Object struct {
	// Version is the resourceVersion; empty when the object does not exist.
	Version string
	// Values are the data entries. Callers must not change them.
	Values map[string][]byte
	// Binary are the entries of a ConfigMap's binaryData: files like the others where
	// the object is mounted, and nothing that a reference finds.
	Binary map[string][]byte
}

// bytes is about what the object takes in memory.
func (o Object) bytes() int { return budget.Size(&o, mostObjectBytes) }

// mostObjectBytes is more than an API server stores of one object.
const mostObjectBytes = 16 << 20

// Reader returns objects by reference.
//
// An object that does not exist gives an error for which
// [IsNotFound] is true; every other error is worth a retry.
type Reader interface {
	Object(ref Ref) (Object, error)
}

// Scope resolves the references of one namespace and records them. It reads an
// object once, so that two of its values are of one version. It is not safe for
// concurrent use.
type Scope struct {
	namespace string
	reader    Reader
	seen      map[Ref]reading
	files     map[string][]byte
	temporary error
	handed    int // bytes of values, each as often as it was asked for
	read      int // bytes of the objects
}

// reading is what came of reading an object.
type reading struct {
	object  Object
	err     error
	version string // as in Dependency
}

// NewScope returns a scope for references held by objects of namespace.
func NewScope(namespace string, reader Reader) *Scope {
	return &Scope{namespace: namespace, reader: reader, seen: map[Ref]reading{}}
}

// Namespace is the namespace all references of the scope resolve in.
func (s *Scope) Namespace() string { return s.namespace }

func (s *Scope) object(ref Ref) (Object, error) {
	if r, ok := s.seen[ref]; ok {
		return r.object, r.err
	}
	if s.read > budget.ReferredBytes {
		return Object{}, fmt.Errorf("the Secrets and ConfigMaps that it refers to have more than %d MiB", budget.ReferredBytes>>20)
	}
	obj, err := s.reader.Object(ref)
	s.read += obj.bytes()
	r := reading{object: obj, err: readError(ref, err)}
	switch {
	case err == nil:
		r.version = obj.Version
	case IsRefused(r.err):
		r.version = refusedVersion
	case IsTemporary(r.err) && s.temporary == nil:
		s.temporary = r.err
	}
	s.seen[ref] = r
	return r.object, r.err
}

func (s *Scope) value(kind Kind, name, key string) (string, error) {
	if err := checkReference(kind, name, key); err != nil {
		return "", err
	}
	ref := Ref{Kind: kind, Namespace: s.namespace, Name: name}
	obj, err := s.object(ref)
	if err != nil {
		return "", err
	}
	v, ok := obj.Values[key]
	if !ok {
		return "", &NotFoundError{Ref: ref, Key: key}
	}
	if s.handed += len(v); s.handed > budget.ValueBytes {
		return "", fmt.Errorf("the values of all references have more than %d MiB", budget.ValueBytes>>20)
	}
	return string(v), nil
}

// SecretKey returns the value behind a Secret selector, byte for byte.
//
// Errors: name or key that no object can have; [NotFoundError] when object or key
// are missing (the selector's optional flag is not looked at); [RefusedError] when
// the API server refuses to return the object; [ReadError] when it did not answer.
func (s *Scope) SecretKey(sel corev1.SecretKeySelector) (string, error) {
	return s.value(Secret, sel.Name, sel.Key)
}

// Mounted returns all entries of a Secret or ConfigMap, which are the files of a pod that
// mounts it whole. The caller must change nothing. Errors as [Scope.SecretKey], but for
// the key.
func (s *Scope) Mounted(kind Kind, name string) (map[string][]byte, error) {
	if err := checkReference(kind, name, "any"); err != nil {
		return nil, err
	}
	obj, err := s.object(Ref{Kind: kind, Namespace: s.namespace, Name: name})
	if err != nil || len(obj.Binary) == 0 {
		return obj.Values, err
	}
	files := maps.Clone(obj.Binary)
	maps.Copy(files, obj.Values)
	return files, nil
}

// ConfigMapKey returns the value behind a ConfigMap selector. Errors as [Scope.SecretKey].
func (s *Scope) ConfigMapKey(sel corev1.ConfigMapKeySelector) (string, error) {
	return s.value(ConfigMap, sel.Name, sel.Key)
}

// OptionalSecretKey is SecretKey for the selectors whose optional flag counts:
// it returns ok=false when the value is missing and optional is true.
func (s *Scope) OptionalSecretKey(sel corev1.SecretKeySelector) (v string, ok bool, err error) {
	v, err = s.SecretKey(sel)
	if IsNotFound(err) && sel.Optional != nil && *sel.Optional {
		return "", false, nil
	}
	return v, err == nil, err
}

// Dependency is one recorded reference with the version that was seen.
type Dependency struct {
	Ref     Ref
	Version string // empty: did not exist
}

// Unchanged reports whether reading what was depended on finds the same versions again.
func Unchanged(r Reader, deps []Dependency) bool {
	return !slices.ContainsFunc(deps, func(d Dependency) bool {
		o, err := r.Object(d.Ref)
		return err != nil && !IsNotFound(err) || o.Version != d.Version
	})
}

// Dependencies lists every object asked for so far, sorted.
func (s *Scope) Dependencies() []Dependency {
	out := make([]Dependency, 0, len(s.seen))
	for ref, r := range s.seen {
		out = append(out, Dependency{Ref: ref, Version: r.version})
	}
	slices.SortFunc(out, func(a, b Dependency) int { return a.Ref.Compare(b.Ref) })
	return out
}

// Temporary returns the first failure to read the cluster, nil if there was
// none. A result compiled while it is set must not be kept or acted upon.
func (s *Scope) Temporary() error { return s.temporary }

// FileName is the name of a TLS asset in the assets volume.
func FileName(kind Kind, namespace, name, key string) string {
	return fmt.Sprintf("%d_%s_%s_%s", kind, namespace, name, key)
}

// AddFile registers a value that must appear as a file in the assets volume.
// Empty values are left out.
//
// Errors: the name of the file is too long, it would be a key of the Secret that
// holds the files of all objects; the value is too large to share that Secret.
func (s *Scope) AddFile(kind Kind, name, key, value string) error {
	if value == "" {
		return nil
	}
	file := FileName(kind, s.namespace, name, key)
	if n := len(file); n > wellknown.MaxKeyLength {
		return fmt.Errorf("namespace, name and key of the %s make a file name of %d bytes, a Secret allows %d", kind, n, wellknown.MaxKeyLength)
	}
	if n := len(value); n > budget.TLSFileBytes {
		return fmt.Errorf("key %q of %s %q has %d KiB, a TLS file may have %d KiB", key, kind, name, (n+1023)>>10, budget.TLSFileBytes>>10)
	}
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	read := s.seen[Ref{Kind: kind, Namespace: s.namespace, Name: name}].object.Values[key]
	if string(read) != value {
		read = []byte(value)
	}
	s.files[file] = read // all objects with the file have one copy
	return nil
}

// Files returns the registered files by name; nil when there are none.
func (s *Scope) Files() map[string][]byte { return maps.Clone(s.files) }

// CheckCertificate reports whether text starts with a parsable X.509
// certificate in PEM form.
func CheckCertificate(text string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New("not a PEM block")
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return fmt.Errorf("not an X.509 certificate: %w", err)
	}
	return nil
}

// CheckKeyPair reports whether cert and key belong together.
func CheckKeyPair(cert, key string) error {
	if _, err := tls.X509KeyPair([]byte(cert), []byte(key)); err != nil {
		return fmt.Errorf("certificate and key do not form a pair: %w", err)
	}
	return nil
}

package assets

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Kind is either Secret or ConfigMap. The numbers are part of the file names of TLS assets
// and must not change.
type Kind uint8

const (
	// Secret is a core/v1 Secret.
	Secret Kind = 0
	// ConfigMap is a core/v1 ConfigMap; references resolve to its data, not its binaryData.
	ConfigMap Kind = 1
)

// String returns the kind as in manifests.
func (k Kind) String() string {
	if k == ConfigMap {
		return "ConfigMap"
	}
	return "Secret"
}

// Ref identifies a Secret or ConfigMap.
type Ref struct {
	Kind      Kind
	Namespace string
	Name      string
}

// String formats the reference for messages: `Secret "ns/name"`.
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
	// Binary is the binaryData of a ConfigMap: its entries are files where the object is
	// mounted, but references do not resolve to them.
	Binary map[string][]byte
}

// bytes returns the approximate memory size of the object.
func (o Object) bytes() int { return budget.Size(&o, mostObjectBytes) }

// mostObjectBytes is an upper bound for the size of an object in the API server.
const mostObjectBytes = 16 << 20

// Reader returns objects by reference.
//
// [IsNotFound] is true for the error of an object that does not exist. Every other error
// can be retried.
type Reader interface {
	Object(ref Ref) (Object, error)
}

// Scope resolves the references of one namespace and records them. It reads each object
// once, so that all values of an object have the same version. It is not safe for
// concurrent use.
type Scope struct {
	namespace string
	reader    Reader
	seen      map[Ref]reading
	files     map[string][]byte
	temporary error
	handed    int // total bytes of the returned values, with repetitions
	read      int // total bytes of the objects
}

// reading is the result of reading an object.
type reading struct {
	object  Object
	err     error
	version string // as in Dependency
}

// NewScope returns a scope for the references of objects in namespace.
func NewScope(namespace string, reader Reader) *Scope {
	return &Scope{namespace: namespace, reader: reader, seen: map[Ref]reading{}}
}

// Namespace returns the namespace in which the references are resolved.
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
	if err := checkName(kind, name); err != nil {
		return "", faults.At("name", err)
	}
	if err := checkKey(kind, name, key); err != nil {
		return "", faults.At("key", err)
	}
	ref := Ref{Kind: kind, Namespace: s.namespace, Name: name}
	obj, err := s.object(ref)
	switch {
	case IsNotFound(err), IsRefused(err):
		return "", faults.At("name", err)
	case err != nil:
		return "", err
	}
	v, ok := obj.Values[key]
	if !ok {
		missing := &NotFoundError{Ref: ref, Key: key}
		if kind == ConfigMap { // not everyone who may refer to a Secret may list its keys
			missing.Meant = manifest.Meant(key, slices.Sorted(maps.Keys(obj.Values)))
		}
		return "", faults.At("key", missing)
	}
	if s.handed += len(v); s.handed > budget.ValueBytes {
		return "", fmt.Errorf("the values of all references have more than %d MiB", budget.ValueBytes>>20)
	}
	return string(v), nil
}

// SecretKey returns the value of a Secret selector unchanged.
//
// Errors, each with the field of the selector: an invalid name or key; [NotFoundError] if the object or key is missing (the
// selector's optional flag is ignored); [RefusedError] if the API server refuses to return
// the object; [ReadError] if it does not respond.
func (s *Scope) SecretKey(sel corev1.SecretKeySelector) (string, error) {
	return s.value(Secret, sel.Name, sel.Key)
}

// Mounted returns all entries of a Secret or ConfigMap, which are the files of a pod that
// mounts it completely. The caller must not modify them. Errors as for [Scope.SecretKey],
// except those of the key.
func (s *Scope) Mounted(kind Kind, name string) (map[string][]byte, error) {
	if err := checkName(kind, name); err != nil {
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

// ConfigMapKey returns the value of a ConfigMap selector. Errors as for [Scope.SecretKey].
func (s *Scope) ConfigMapKey(sel corev1.ConfigMapKeySelector) (string, error) {
	return s.value(ConfigMap, sel.Name, sel.Key)
}

// OptionalSecretKey is like SecretKey but respects the optional flag: ok is false if the
// value is missing and optional is true.
func (s *Scope) OptionalSecretKey(sel corev1.SecretKeySelector) (v string, ok bool, err error) {
	v, err = s.SecretKey(sel)
	if IsNotFound(err) && sel.Optional != nil && *sel.Optional {
		return "", false, nil
	}
	return v, err == nil, err
}

// Dependency is a recorded reference with the version that was read.
type Dependency struct {
	Ref     Ref
	Version string // empty: the object did not exist
}

// Refs returns the references of lists of dependencies.
func Refs(lists ...[]Dependency) iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		for _, deps := range lists {
			for _, d := range deps {
				if !yield(d.Ref) {
					return
				}
			}
		}
	}
}

// Unchanged reports whether reading the dependencies returns the recorded versions.
func Unchanged(r Reader, deps []Dependency) bool {
	return !slices.ContainsFunc(deps, func(d Dependency) bool {
		o, err := r.Object(d.Ref)
		return err != nil && !IsNotFound(err) || o.Version != d.Version
	})
}

// Dependencies returns all requested objects, sorted.
func (s *Scope) Dependencies() []Dependency {
	out := make([]Dependency, 0, len(s.seen))
	for ref, r := range s.seen {
		out = append(out, Dependency{Ref: ref, Version: r.version})
	}
	slices.SortFunc(out, func(a, b Dependency) int { return a.Ref.Compare(b.Ref) })
	return out
}

// Temporary returns the first failure to reach the API server, or nil. The result of a
// compilation with such a failure must be discarded.
func (s *Scope) Temporary() error { return s.temporary }

// FileName returns the name of a TLS asset in the assets volume.
func FileName(kind Kind, namespace, name, key string) string {
	return fmt.Sprintf("%d_%s_%s_%s", kind, namespace, name, key)
}

// AddFile registers a value as a file of the assets volume. Empty values are skipped.
//
// Errors: the file name exceeds the length of a key in the Secret that holds the files of
// all objects; the value is too large for that Secret.
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
	s.files[file] = read // all objects with the file share one copy
	return nil
}

// Files returns the registered files by name, nil if there are none.
func (s *Scope) Files() map[string][]byte { return maps.Clone(s.files) }

// CheckCertificate returns an error unless text starts with a valid X.509 certificate in PEM format, and
// has one that servers use as a CA: one without any makes Alertmanager refuse its whole configuration.
func CheckCertificate(text string) error {
	block, _ := pem.Decode([]byte(text))
	switch {
	case block == nil:
		return notPEM(text, "CERTIFICATE")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return errors.New("a private key, not a certificate: refer to the entry with the certificate, such as tls.crt or ca.crt")
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return fmt.Errorf("not an X.509 certificate: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) { // it skips blocks of other types and with headers
		return errors.New("no PEM block that servers use: it must begin with -----BEGIN CERTIFICATE----- and have no headers")
	}
	return nil
}

// CheckKeyPair returns an error unless key is the private key of cert.
func CheckKeyPair(cert, key string) error {
	_, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err == nil {
		return nil
	}
	first, _ := pem.Decode([]byte(cert))
	second, _ := pem.Decode([]byte(key))
	switch {
	case first == nil:
		err = fmt.Errorf("the certificate is %w", notPEM(cert, "CERTIFICATE"))
	case second == nil:
		err = fmt.Errorf("the key is %w", notPEM(key, "PRIVATE KEY"))
	case strings.HasSuffix(first.Type, "PRIVATE KEY") && second.Type == "CERTIFICATE":
		err = errors.New("they are swapped, the certificate is a private key")
	}
	return fmt.Errorf("certificate and key do not form a pair: %w", err)
}

// notPEM returns an error for a text without a PEM block. It never contains the text.
func notPEM(text, want string) error {
	reason := fmt.Sprintf("not a PEM block, which begins with -----BEGIN %s-----", want)
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if block, _ := pem.Decode(decoded); err == nil && block != nil {
		reason += "; it is base64 of one: encode it once for data, or write it as it is in stringData"
	}
	return errors.New(reason)
}

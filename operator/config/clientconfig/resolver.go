package clientconfig

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Resolver reads the references of one object. What it has read, the files that
// must be mounted and the dependencies, are in its scope.
type Resolver struct {
	*assets.Scope
	dir    string
	target gate.Target
}

// New returns a resolver for references held by objects of namespace.
//
// dir: where the containers find TLS assets. t: the program and version that
// read the file; rules that came with a version hold from there on.
func New(namespace string, r assets.Reader, dir string, t gate.Target) *Resolver {
	return &Resolver{Scope: assets.NewScope(namespace, r), dir: dir, target: t}
}

// variable is what Thanos replaces in its configuration files. It does not start when
// the variable is not set, and its log has the name: a part of the value.
var variable = regexp.MustCompile(`\$\([a-zA-Z_0-9]+\)`)

// SecretKey is [assets.Scope.SecretKey]. A value that the program would not read as it
// is, is an error too.
func (r *Resolver) SecretKey(sel corev1.SecretKeySelector) (string, error) {
	value, err := r.Scope.SecretKey(sel)
	return r.literal(assets.Secret, sel.Name, value, err)
}

// ConfigMapKey is SecretKey for ConfigMaps.
func (r *Resolver) ConfigMapKey(sel corev1.ConfigMapKeySelector) (string, error) {
	value, err := r.Scope.ConfigMapKey(sel)
	return r.literal(assets.ConfigMap, sel.Name, value, err)
}

func (r *Resolver) literal(kind assets.Kind, name, value string, err error) (string, error) {
	if err == nil && r.target.Program == gate.Thanos && variable.MatchString(value) {
		return "", fmt.Errorf(`%s "%s/%s": the value has "$(…)" in it, which Thanos takes for an environment variable`, kind, r.Namespace(), name)
	}
	return value, err
}

// Secret returns the value behind sel; nil means "".
func (r *Resolver) Secret(sel *corev1.SecretKeySelector) (string, error) {
	if sel == nil {
		return "", nil
	}
	return r.SecretKey(*sel)
}

// Either returns the value behind a Secret or ConfigMap reference; none means "".
func (r *Resolver) Either(ref v1.SecretOrConfigMap) (string, error) {
	switch {
	case ref.Secret != nil:
		return r.SecretKey(*ref.Secret)
	case ref.ConfigMap != nil:
		return r.ConfigMapKey(*ref.ConfigMap)
	}
	return "", nil
}

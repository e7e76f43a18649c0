package clientconfig

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Resolver resolves the references of one object. Its scope collects the files to mount
// and the dependencies.
type Resolver struct {
	*assets.Scope
	dir    string
	target gate.Target
}

// New returns a resolver for references of objects in namespace.
//
// dir: the mount path of TLS assets in the containers. t: the program and version that
// read the file; version-dependent rules apply accordingly.
func New(namespace string, r assets.Reader, dir string, t gate.Target) *Resolver {
	return &Resolver{Scope: assets.NewScope(namespace, r), dir: dir, target: t}
}

// variable matches an environment variable reference in a Thanos configuration file. Thanos
// does not start if the variable is not set, and logs its name, which is part of the value.
var variable = regexp.MustCompile(`\$\([a-zA-Z_0-9]+\)`)

// SecretKey is like [assets.Scope.SecretKey], but also returns an error for a value that
// the program would not read literally.
func (r *Resolver) SecretKey(sel corev1.SecretKeySelector) (string, error) {
	value, err := r.Scope.SecretKey(sel)
	return r.literal(assets.Secret, sel.Name, value, err)
}

// configMapKey is like SecretKey, for ConfigMaps.
func (r *Resolver) configMapKey(sel corev1.ConfigMapKeySelector) (string, error) {
	value, err := r.Scope.ConfigMapKey(sel)
	return r.literal(assets.ConfigMap, sel.Name, value, err)
}

func (r *Resolver) literal(kind assets.Kind, name, value string, err error) (string, error) {
	if err == nil && r.target.Program == gate.Thanos && variable.MatchString(value) {
		return "", fmt.Errorf(`%s "%s/%s": the value has "$(…)" in it, which Thanos takes for an environment variable`, kind, r.Namespace(), name)
	}
	return value, err
}

// Secret returns the value of the selected key; nil means "".
func (r *Resolver) Secret(sel *corev1.SecretKeySelector) (string, error) {
	if sel == nil {
		return "", nil
	}
	return r.SecretKey(*sel)
}

// either returns the value of a Secret or ConfigMap reference; none means "".
func (r *Resolver) either(ref v1.SecretOrConfigMap) (string, error) {
	switch {
	case ref.Secret != nil:
		value, err := r.SecretKey(*ref.Secret)
		return value, faults.At("secret", err)
	case ref.ConfigMap != nil:
		value, err := r.configMapKey(*ref.ConfigMap)
		return value, faults.At("configMap", err)
	}
	return "", nil
}

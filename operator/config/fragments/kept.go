package fragments

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Kept is a result for one workload that is reused until one of its inputs changes. It is not
// safe for concurrent use. The zero value is empty.
type Kept[T any] struct {
	set   bool
	key   string
	value T
	deps  []assets.Dependency
}

// Get returns the result for a key, which identifies all inputs except Secrets and ConfigMaps. It
// calls compute unless the last result has the same key and its dependencies are unchanged. A
// result with an error is returned, for its dependencies, and not kept.
func (k *Kept[T]) Get(key string, current func([]assets.Dependency) bool, compute func() (T, []assets.Dependency, error)) (T, error) {
	if k.set && k.key == key && (len(k.deps) == 0 || current(k.deps)) {
		return k.value, nil
	}
	*k = Kept[T]{}
	value, deps, err := compute()
	if err == nil {
		*k = Kept[T]{true, key, value, deps}
	}
	return value, err
}

// KeyOf returns a key of [Kept] that changes with the spec of an object.
func KeyOf(o metav1.Object) string { return fmt.Sprintf("%s/%d", o.GetUID(), o.GetGeneration()) }

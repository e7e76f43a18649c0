package engine

import (
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// interned lets the cached rule ConfigMaps of all workloads and the compiled rules share one copy
// of each file in memory. It also makes comparing the two cheap: equal contents are mostly the same
// string. The zero value is ready to use.
type interned struct {
	mu   sync.Mutex
	held map[types.NamespacedName][]unique.Handle[string]
}

// share interns the files of a ConfigMap on its way into the cache, and drops the files of one
// without an owner. A handle must be held while its string is to be found.
func (n *interned) share(m *corev1.ConfigMap) *corev1.ConfigMap {
	if len(m.OwnerReferences) == 0 { // the labels are public: other clients may create any number of such ConfigMaps
		m.Data, m.BinaryData, m.Annotations = nil, nil, nil
	}
	handles := make([]unique.Handle[string], 0, len(m.Data))
	for name, content := range m.Data {
		h := unique.Make(content)
		handles = append(handles, h)
		m.Data[name] = h.Value()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held == nil {
		n.held = map[types.NamespacedName][]unique.Handle[string]{}
	}
	n.held[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = handles
	return m
}

// forget releases the files of a deleted ConfigMap.
func (n *interned) forget(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.held, key)
}

package prometheus

import (
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// texts lets the rule ConfigMaps in the cache, of all owners, and the compiled
// rules share one copy of each file in memory. It also makes comparing the two
// cheap: equal texts are mostly the same one. The zero value is ready.
type texts struct {
	mu   sync.Mutex
	held map[types.NamespacedName][]unique.Handle[string]
}

// share replaces the files of a ConfigMap on its way into the cache. A handle
// must be held as long as its text is to be found.
func (t *texts) share(m *corev1.ConfigMap) *corev1.ConfigMap {
	handles := make([]unique.Handle[string], 0, len(m.Data))
	for name, text := range m.Data {
		h := unique.Make(text)
		handles = append(handles, h)
		m.Data[name] = h.Value()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = map[types.NamespacedName][]unique.Handle[string]{}
	}
	t.held[keyOf(m)] = handles
	return m
}

// forget lets go of the files of a ConfigMap that is gone.
func (t *texts) forget(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, key)
}

package queue

import "k8s.io/apimachinery/pkg/types"

// turns is the order of waiting keys: the namespaces take turns, and the keys of one namespace are in
// the order in which they were added. A namespace with hundreds of keys thus delays a key of another
// one by a single key. It implements workqueue.Queue, which is called under a lock.
type turns struct {
	waiting map[string][]types.NamespacedName // by namespace, never empty
	order   []string                          // namespaces with waiting keys, the next one first
	n       int                               // keys
}

func newTurns() *turns { return &turns{waiting: map[string][]types.NamespacedName{}} }

// Touch does nothing: a key that is added again keeps its place.
func (t *turns) Touch(types.NamespacedName) {}

// Push adds a key behind the others of its namespace.
func (t *turns) Push(key types.NamespacedName) {
	if len(t.waiting[key.Namespace]) == 0 {
		t.order = append(t.order, key.Namespace)
	}
	t.waiting[key.Namespace] = append(t.waiting[key.Namespace], key)
	t.n++
}

// Len returns the number of keys.
func (t *turns) Len() int { return t.n }

// Pop removes the next key. There must be one.
func (t *turns) Pop() types.NamespacedName {
	namespace := t.order[0]
	keys := t.waiting[namespace]
	t.order = t.order[1:]
	t.n--
	if len(keys) == 1 {
		delete(t.waiting, namespace)
	} else {
		t.waiting[namespace] = keys[1:]
		t.order = append(t.order, namespace)
	}
	return keys[0]
}

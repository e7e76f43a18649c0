package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// cover records which objects a poller has found missing.
type cover struct {
	mu     sync.Mutex
	all    bool      // all objects are listed
	since  time.Time // start of the validity of all
	parts  map[string]bool
	absent map[types.NamespacedName]bool
}

// settled is the delay before objects are reported missing after a complete list, if the
// store had objects before, because it applies the list with a delay.
const settled = time.Minute

// missing records that an object does not exist.
func (c *cover) missing(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.absent == nil {
		c.absent = map[types.NamespacedName]bool{}
	}
	c.absent[name] = true
}

// present records that an object exists or that its existence is unknown.
func (c *cover) present(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.absent, name)
}

// only drops the entries of all other objects.
func (c *cover) only(names map[types.NamespacedName]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.absent {
		if !names[name] {
			delete(c.absent, name)
		}
	}
}

// part records whether all objects of a namespace are known.
func (c *cover) part(namespace string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[string]bool{}
	}
	c.parts[namespace] = known
}

// everything records whether all objects are known.
func (c *cover) everything(known, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known && !c.all && !first {
		c.since = time.Now().Add(settled)
	}
	if c.all = known; !known {
		c.parts = nil
	}
}

// has reports whether an object that is not in the store does not exist. If a selector
// narrows the lists, only single reads count.
func (c *cover) has(name types.NamespacedName, narrowed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.absent[name] || !narrowed && (c.parts[name.Namespace] || c.all && !time.Now().Before(c.since))
}

// Missing reports whether an object that is not in the store does not exist.
func (s *Store[T]) Missing(name types.NamespacedName) bool {
	return s.covers(name, !s.Complete(name.Namespace))
}

// Knows is like [Store.Missing] for objects that match the selectors of the store.
func (s *Store[T]) Knows(name types.NamespacedName) bool {
	return s.covers(name, !s.scope.Has(name.Namespace))
}

// Note records an object that was read or written without the store, for stores that get
// objects by name. It must be trimmed like the objects in the store and must not be
// modified.
func (s *Store[T]) Note(obj T) {
	for _, p := range s.pollers {
		if p != nil && (p.namespace == "" || p.namespace == obj.GetNamespace()) {
			p.noted.note(obj)
		}
	}
}

func (s *Store[T]) covers(name types.NamespacedName, narrowed bool) bool {
	for _, p := range s.pollers {
		switch {
		case p == nil:
			return !narrowed
		case (p.namespace == "" || p.namespace == name.Namespace) && p.cover.has(name, narrowed):
			return true
		}
	}
	return false
}

package informer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// cover says of what a poller knows that it does not exist.
type cover struct {
	mu     sync.Mutex
	all    bool      // everything is listed
	since  time.Time // of all
	parts  map[string]bool
	absent map[types.NamespacedName]bool
}

// settled is the time after which what the first complete list lacks counts as missing,
// where objects were known before: the store takes a while to have all of them.
const settled = time.Minute

// missing notes that an object does not exist.
func (c *cover) missing(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.absent == nil {
		c.absent = map[types.NamespacedName]bool{}
	}
	c.absent[name] = true
}

// present notes that an object exists, or that nobody knows.
func (c *cover) present(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.absent, name)
}

// only drops what is known of other objects.
func (c *cover) only(names map[types.NamespacedName]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.absent {
		if !names[name] {
			delete(c.absent, name)
		}
	}
}

// part notes whether all objects of a namespace are known.
func (c *cover) part(namespace string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[string]bool{}
	}
	c.parts[namespace] = known
}

// everything notes whether all objects are known.
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

// has reports whether an object that the store does not have does not exist. Those of a
// namespace are complete only if no selector narrows the lists.
func (c *cover) has(name types.NamespacedName, narrowed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.absent[name] || !narrowed && (c.parts[name.Namespace] || c.all && !time.Now().Before(c.since))
}

// Missing reports whether an object that the store does not have does not exist.
func (s *Store[T]) Missing(name types.NamespacedName) bool {
	return s.covers(name, !s.Complete(name.Namespace))
}

// Knows reports whether an object that the selectors of the store select and that it does
// not have does not exist.
func (s *Store[T]) Knows(name types.NamespacedName) bool {
	return s.covers(name, !s.scope.Has(name.Namespace))
}

// Note takes an object that was read or written beside the store, for stores that get
// objects by name. It must be as the store keeps it, and nobody may change it.
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

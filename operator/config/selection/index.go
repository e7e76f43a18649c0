package selection

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Rules are the rules of one owner by kind of object ("ServiceMonitor", …).
type Rules map[string]Rule

// Index finds the owners that an event is about. The zero value is empty and
// ready; it is safe for concurrent use.
type Index struct {
	mu     sync.RWMutex
	owners map[types.NamespacedName]Rules
}

// Set replaces the rules of an owner.
func (x *Index) Set(owner types.NamespacedName, rules Rules) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.owners == nil {
		x.owners = map[types.NamespacedName]Rules{}
	}
	x.owners[owner] = rules
}

// Remove forgets an owner.
func (x *Index) Remove(owner types.NamespacedName) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.owners, owner)
}

// Len is the number of owners.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.owners)
}

// Object is what selection looks at in one version of an object.
type Object struct {
	Namespace, Name string
	NamespaceLabels labels.Set
	Labels          labels.Set
}

// Owners returns the owners that select, or name, any of the given versions of an
// object of the kind (its old and its new one, say), sorted.
func (x *Index) Owners(kind string, versions ...Object) []types.NamespacedName {
	return x.find(func(owner types.NamespacedName, rules Rules) bool {
		rule := rules[kind]
		for _, v := range versions {
			if rule.Names(v.Namespace, v.Name) || rule.Why(v.Namespace, v.NamespaceLabels, v.Labels) == Selected {
				return true
			}
		}
		return false
	})
}

// NamespaceChanged returns the owners for which the verdict over a namespace
// differs between its old and its new labels, sorted.
func (x *Index) NamespaceChanged(name string, before, after labels.Set) []types.NamespacedName {
	return x.find(func(owner types.NamespacedName, rules Rules) bool {
		for _, rule := range rules {
			if !rule.Empty() && rule.Namespace(name, before) != rule.Namespace(name, after) {
				return true
			}
		}
		return false
	})
}

// NamespaceAdded returns the owners that select objects of a namespace that was
// not known before, or is not any more, sorted.
func (x *Index) NamespaceAdded(name string, nsLabels labels.Set) []types.NamespacedName {
	return x.find(func(owner types.NamespacedName, rules Rules) bool {
		for _, rule := range rules {
			if !rule.Empty() && !rule.OwnNamespaceOnly() && rule.Namespace(name, nsLabels) {
				return true
			}
		}
		return false
	})
}

// InNamespace returns the owners that live in a namespace, sorted.
func (x *Index) InNamespace(namespace string) []types.NamespacedName {
	return x.find(func(owner types.NamespacedName, _ Rules) bool { return owner.Namespace == namespace })
}

func (x *Index) find(match func(types.NamespacedName, Rules) bool) []types.NamespacedName {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []types.NamespacedName
	for owner, rules := range x.owners {
		if match(owner, rules) {
			out = append(out, owner)
		}
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

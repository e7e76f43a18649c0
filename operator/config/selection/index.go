package selection

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Rules holds the rules of one workload by kind of object ("ServiceMonitor", ...).
type Rules map[string]Rule

// Index maps watch events to the workloads that they affect. The zero value is empty and
// ready to use. It is safe for concurrent use.
type Index struct {
	mu        sync.RWMutex
	workloads map[types.NamespacedName]Rules
}

// Set replaces the rules of a workload.
func (x *Index) Set(workload types.NamespacedName, rules Rules) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.workloads == nil {
		x.workloads = map[types.NamespacedName]Rules{}
	}
	x.workloads[workload] = rules
}

// Remove removes a workload.
func (x *Index) Remove(workload types.NamespacedName) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.workloads, workload)
}

// Len returns the number of workloads.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.workloads)
}

// Object holds the properties of an object that selection depends on.
type Object struct {
	Namespace, Name string
	NamespaceLabels labels.Set
	Labels          labels.Set
}

// SelectedBy returns the workloads that select or name any of the given versions of an object
// (for example, the old and the new one), sorted.
func (x *Index) SelectedBy(kind string, versions ...Object) []types.NamespacedName {
	return x.find(func(workload types.NamespacedName, rules Rules) bool {
		rule := rules[kind]
		for _, v := range versions {
			if rule.Names(v.Namespace, v.Name) || rule.Why(v.Namespace, v.NamespaceLabels, v.Labels) == Selected {
				return true
			}
		}
		return false
	})
}

// NamespaceChanged returns the workloads that select a namespace with either its old or its
// new labels, but not with both, sorted.
func (x *Index) NamespaceChanged(name string, before, after labels.Set) []types.NamespacedName {
	return x.find(func(workload types.NamespacedName, rules Rules) bool {
		for _, rule := range rules {
			if !rule.Empty() && rule.Namespace(name, before) != rule.Namespace(name, after) {
				return true
			}
		}
		return false
	})
}

// NamespaceAdded returns the workloads that select objects of a namespace that was added or removed, sorted.
func (x *Index) NamespaceAdded(name string, nsLabels labels.Set) []types.NamespacedName {
	return x.find(func(workload types.NamespacedName, rules Rules) bool {
		for _, rule := range rules {
			if !rule.Empty() && !rule.OwnNamespaceOnly() && rule.Namespace(name, nsLabels) {
				return true
			}
		}
		return false
	})
}

func (x *Index) find(match func(types.NamespacedName, Rules) bool) []types.NamespacedName {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []types.NamespacedName
	for workload, rules := range x.workloads {
		if match(workload, rules) {
			out = append(out, workload)
		}
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

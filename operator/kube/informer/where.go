package informer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Where selects objects of a namespace. The zero value selects all of them.
type Where struct {
	label string // empty: by name
	value string
}

// Labelled selects the objects whose label has a value.
func Labelled(key, value string) Where { return Where{key, value} }

// NamedAfter selects the objects whose name is base or begins with base and '-'.
func NamedAfter(base string) Where { return Where{"", base} }

// Matches reports whether an object is selected.
func (w Where) Matches(o metav1.Object) bool {
	if w.label != "" {
		value, has := o.GetLabels()[w.label]
		return has && value == w.value
	}
	rest, has := strings.CutPrefix(o.GetName(), w.value)
	return w.value == "" || has && (rest == "" || rest[0] == '-')
}

// Index configures which selections of a store cost as much as their result, and not as much as
// the objects of the namespace.
type Index struct {
	Labels []string // keys for [Labelled]
	Names  bool     // for [NamedAfter]
}

// whereIndex is the name of the index.
const whereIndex = "where"

func (x Index) has(w Where) bool {
	if w.label == "" {
		return x.Names && w.value != ""
	}
	return slices.Contains(x.Labels, w.label)
}

// key returns the key of the selection in the index. Neither namespaces nor labels contain "//".
func (w Where) key(namespace string) string { return namespace + "//" + w.label + "//" + w.value }

// indexers returns the indexes of a store.
func (x Index) indexers() cache.Indexers {
	out := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if len(x.Labels) > 0 || x.Names {
		out[whereIndex] = func(raw any) ([]string, error) { return x.keys(raw.(metav1.Object)), nil }
	}
	return out
}

// keys returns the keys of all indexed selections that select an object.
func (x Index) keys(o metav1.Object) (out []string) {
	for _, key := range x.Labels {
		if value, has := o.GetLabels()[key]; has {
			out = append(out, Labelled(key, value).key(o.GetNamespace()))
		}
	}
	if name := o.GetName(); x.Names {
		out = append(out, NamedAfter(name).key(o.GetNamespace()))
		for i := 1; i < len(name); i++ {
			if name[i] == '-' {
				out = append(out, NamedAfter(name[:i]).key(o.GetNamespace()))
			}
		}
	}
	return out
}

package informer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Namespaces is the set of namespaces in which a kind of object is watched.
type Namespaces struct {
	allow []string // nil: all
	deny  []string // only if allow is nil
	flag  string   // flag of the allow list; empty: --namespaces
}

// NewNamespaces returns the namespaces of an allow list and a deny list. An allow list
// that is empty or only contains the empty name means all namespaces.
//
// Errors: both lists are set; the empty name is combined with others; an invalid
// namespace name.
func NewNamespaces(allow, deny []string) (Namespaces, error) {
	allow, deny = tidy(allow), slices.DeleteFunc(tidy(deny), func(n string) bool { return n == "" })
	if len(allow) == 0 || len(allow) == 1 && allow[0] == "" {
		allow = nil
	}
	if slices.Contains(allow, "") {
		return Namespaces{}, errors.New("the empty name means all namespaces and cannot be combined with others")
	}
	if len(allow) > 0 && len(deny) > 0 {
		return Namespaces{}, errors.New("an allow list and a deny list are mutually exclusive")
	}
	for _, name := range slices.Concat(allow, deny) {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return Namespaces{}, fmt.Errorf("%q is not the name of a namespace: %s", name, wrong[0])
		}
	}
	return Namespaces{allow: allow, deny: deny}, nil
}

func tidy(names []string) []string {
	out := slices.Clone(names)
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// All reports whether every namespace that is not denied is in scope.
func (n Namespaces) All() bool { return n.allow == nil }

// Has reports whether a namespace is in scope.
func (n Namespaces) Has(name string) bool {
	if n.allow != nil {
		return slices.Contains(n.allow, name)
	}
	return !slices.Contains(n.deny, name)
}

// Watches returns the namespaces that need an informer; "" means all.
func (n Namespaces) Watches() []string {
	if n.allow == nil {
		return []string{""}
	}
	return n.allow
}

// FieldSelector returns a field selector that excludes the denied namespaces, combined with more.
func (n Namespaces) FieldSelector(more string) string {
	var parts []string
	for _, d := range n.deny {
		parts = append(parts, "metadata.namespace!="+d)
	}
	if more != "" {
		parts = append(parts, more)
	}
	return strings.Join(parts, ",")
}

// NameSelector returns a label selector that matches the Namespace objects in scope; it is empty if all are.
func (n Namespaces) NameSelector() string {
	switch {
	case n.allow != nil:
		return "kubernetes.io/metadata.name in (" + strings.Join(n.allow, ",") + ")"
	case len(n.deny) > 0:
		return "kubernetes.io/metadata.name notin (" + strings.Join(n.deny, ",") + ")"
	}
	return ""
}

// Union returns the namespaces in either scope.
func (n Namespaces) Union(o Namespaces) Namespaces {
	if n.allow != nil && o.allow != nil {
		return Namespaces{allow: tidy(slices.Concat(n.allow, o.allow))}
	}
	// Only namespaces that both deny remain denied.
	var deny []string
	for _, name := range tidy(slices.Concat(n.deny, o.deny)) {
		if !n.Has(name) && !o.Has(name) {
			deny = append(deny, name)
		}
	}
	return Namespaces{deny: deny}
}

// Of returns the scope with the name of the flag that sets its allow list.
func (n Namespaces) Of(flag string) Namespaces {
	n.flag = flag
	return n
}

// Flag returns the flag that limits the scope, as on a command line; empty if there is no limit.
func (n Namespaces) Flag() string {
	switch {
	case n.allow != nil:
		return cmp.Or(n.flag, "--namespaces") + "=" + some(n.allow)
	case len(n.deny) > 0:
		return "--deny-namespaces=" + some(n.deny)
	}
	return ""
}

// some joins names and truncates long lists.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ",")
}

// String formats the scope for logs.
func (n Namespaces) String() string {
	switch {
	case n.allow != nil:
		return strings.Join(n.allow, ",")
	case len(n.deny) > 0:
		return fmt.Sprintf("all but %s", strings.Join(n.deny, ","))
	}
	return "all"
}

package informer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Namespaces says which namespaces a kind of object is watched in.
type Namespaces struct {
	allow []string // nil: all
	deny  []string // only when allow is nil
	flag  string   // that has the allow list; empty for --namespaces
}

// NewNamespaces builds a scope from an allow list and a deny list. An empty
// allow list, or one that holds the empty name only, means all namespaces.
//
// Errors: both lists are given; the empty name stands beside others; a name that
// no namespace can have.
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

// Watches are the namespaces to open informers for; "" stands for all.
func (n Namespaces) Watches() []string {
	if n.allow == nil {
		return []string{""}
	}
	return n.allow
}

// FieldSelector excludes the denied namespaces, and adds a selector of the user's.
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

// NameSelector is a label selector that keeps the Namespace objects in scope;
// empty when all are.
func (n Namespaces) NameSelector() string {
	switch {
	case n.allow != nil:
		return "kubernetes.io/metadata.name in (" + strings.Join(n.allow, ",") + ")"
	case len(n.deny) > 0:
		return "kubernetes.io/metadata.name notin (" + strings.Join(n.deny, ",") + ")"
	}
	return ""
}

// Union returns the scope that covers both.
func (n Namespaces) Union(o Namespaces) Namespaces {
	if n.allow != nil && o.allow != nil {
		return Namespaces{allow: tidy(slices.Concat(n.allow, o.allow))}
	}
	// What stays denied is what neither has.
	var deny []string
	for _, name := range tidy(slices.Concat(n.deny, o.deny)) {
		if !n.Has(name) && !o.Has(name) {
			deny = append(deny, name)
		}
	}
	return Namespaces{deny: deny}
}

// Of names the flag that has the allow list.
func (n Namespaces) Of(flag string) Namespaces {
	n.flag = flag
	return n
}

// Flag is what limits the scope, as on a command line; empty when nothing does.
func (n Namespaces) Flag() string {
	switch {
	case n.allow != nil:
		return cmp.Or(n.flag, "--namespaces") + "=" + some(n.allow)
	case len(n.deny) > 0:
		return "--deny-namespaces=" + some(n.deny)
	}
	return ""
}

// some joins names, cut short where there are many.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ",")
}

// String is for logs.
func (n Namespaces) String() string {
	switch {
	case n.allow != nil:
		return strings.Join(n.allow, ",")
	case len(n.deny) > 0:
		return fmt.Sprintf("all but %s", strings.Join(n.deny, ","))
	}
	return "all"
}

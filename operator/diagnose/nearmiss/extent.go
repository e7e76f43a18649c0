package nearmiss

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Extent lists the parts of a running cluster that a view has completely, so that anything else
// does not exist. A view of manifests has none: there may be other objects in the cluster.
type Extent struct {
	// Whole maps kinds ("Service") to the namespaces of which the view has all objects; "" means
	// all namespaces, or a cluster-scoped kind.
	Whole map[string][]string
	// Reviews are the permissions that the API server reported.
	Reviews map[Review]bool
}

// Within sets the extent of the view.
func (v *View) Within(e Extent) *View {
	v.extent = e
	return v
}

// whole reports whether the view has all objects of a kind in namespaces, nil for all namespaces.
func (v *View) whole(kind string, namespaces []string) bool {
	known := v.extent.Whole[kind]
	if slices.Contains(known, "") {
		return true
	}
	return len(namespaces) > 0 && !slices.ContainsFunc(namespaces, func(name string) bool { return !slices.Contains(known, name) })
}

// place returns " among the manifests" if there may be other objects.
func (v *View) place(kind string, namespaces []string) string {
	if v.whole(kind, namespaces) {
		return ""
	}
	return " among the manifests"
}

// absent returns a hint for a search that finds no object of a kind, if there are no similar ones.
func (v *View) absent(s *Search, kind string, all []candidate) []Hint {
	if !v.whole(kind, s.Namespaces) {
		return nil
	}
	inside, _ := split(s.Namespaces, all, func(t candidate) candidate { return t })
	where := s.where()
	if s.Namespaces == nil && s.Role != roleNode {
		where = " in any namespace"
	}
	message := "there is no " + kind + where
	if len(inside) > 0 && s.selector != nil {
		message = "no " + kind + where + " has " + s.labels()
	}
	switch len(inside) {
	case 0:
	case 1:
		message += "; there is " + inside[0].String() + ", which has " + labelsOf(inside[0])
	default:
		message += "; there are " + names(inside)
	}
	return []Hint{{Code: NoTarget, Field: s.objectField(), Message: message}}
}

// labelsOf returns "label app=web", "labels app=web,tier=a" or "no labels".
func labelsOf(t candidate) string {
	if len(t.labels) == 0 {
		return "no labels"
	}
	return report.Plural(len(t.labels), "label") + " " + t.labels.String()
}

package nearmiss

import "slices"

// Extent says what a view of a running cluster has all of, so that what is not in it does not
// exist. A view of manifests has none: what is not among them may be in the cluster.
type Extent struct {
	// Whole are, for kinds ("Service"), the namespaces of which the view has all objects;
	// "" stands for all namespaces, and for kinds without namespaces.
	Whole map[string][]string
	// Reviews are what the API server said about permissions.
	Reviews map[Review]bool
}

// Within says what the view has all of.
func (v *View) Within(e Extent) *View {
	v.extent = e
	return v
}

// whole reports whether the view has all objects of a kind in namespaces, nil for all of them.
func (v *View) whole(kind string, namespaces []string) bool {
	known := v.extent.Whole[kind]
	if slices.Contains(known, "") {
		return true
	}
	return len(namespaces) > 0 && !slices.ContainsFunc(namespaces, func(name string) bool { return !slices.Contains(known, name) })
}

// place is " among the manifests" where there may be more than is known.
func (v *View) place(kind string, namespaces []string) string {
	if v.whole(kind, namespaces) {
		return ""
	}
	return " among the manifests"
}

// absent is a hint for a search that finds no object of a kind, none of which comes close.
func (v *View) absent(s *Search, kind string, all []thing) []Hint {
	if !v.whole(kind, s.Namespaces) {
		return nil
	}
	inside, _ := in(s.Namespaces, all, func(t thing) thing { return t })
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

// labelsOf is "label app=web", "labels app=web,tier=a" or "no labels".
func labelsOf(t thing) string {
	if len(t.labels) == 0 {
		return "no labels"
	}
	return plural(len(t.labels), "label") + " " + t.labels.String()
}

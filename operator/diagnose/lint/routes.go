package lint

import (
	"encoding/json"
	"iter"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// route is a route of an AlertmanagerConfig with its child routes.
type route struct {
	*v1alpha1.Route
	path     string // in the object
	children []*route
}

// decodeRoute decodes the child routes of a route; nil stays nil. It expects an accepted object, in which all of them are
// valid, and which has at most budget.Routes of them, nested no deeper than budget.RouteDepth.
func decodeRoute(path string, r *v1alpha1.Route) *route {
	if r == nil {
		return nil
	}
	out := &route{Route: r, path: path}
	for i, text := range r.Routes {
		var child v1alpha1.Route
		if json.Unmarshal(text.Raw, &child) == nil {
			out.children = append(out.children, decodeRoute(faults.Index(path+".routes", i), &child))
		}
	}
	return out
}

// all yields a route and all routes below it, parents first; none for nil.
func (r *route) all() iter.Seq[*route] {
	return func(yield func(*route) bool) { r.walk(yield) }
}

// walk calls yield for a route and those below it until it returns false.
func (r *route) walk(yield func(*route) bool) bool {
	if r == nil {
		return true
	}
	if !yield(r) {
		return false
	}
	for _, child := range r.children {
		if !child.walk(yield) {
			return false
		}
	}
	return true
}

package lint

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// severityRemarks reports matchers of a route and its child routes with a value that no alert among the manifests has,
// although many have one that is almost the same.
func (l *linter) severityRemarks(note says, path string, r *v1alpha1.Route) {
	for path, r := range routes(path, r) {
		l.severityOf(note, path, r)
	}
}

// severityOf is severityRemarks for one route.
func (l *linter) severityOf(note says, path string, r *v1alpha1.Route) {
	for i, m := range r.Matchers {
		if !isEqual(m) {
			continue
		}
		values := l.alertLabels()[m.Name]
		if len(values) == 0 || values[m.Value] {
			continue
		}
		known := slices.Sorted(maps.Keys(values))
		meant := manifest.Similar(m.Value, known)
		if at := slices.IndexFunc(known, func(v string) bool { return strings.EqualFold(v, m.Value) }); at >= 0 {
			meant = known[at]
		}
		if meant != "" {
			note(fmt.Sprintf("%s.matchers[%d].value", path, i), "no alert among the manifests has %s=%q, did you mean %q? Values of labels are compared with their case", m.Name, m.Value, meant)
		}
	}
}

// routes returns a route and its child routes that can be read, parents first, with their paths.
func routes(path string, r *v1alpha1.Route) iter.Seq2[string, *v1alpha1.Route] {
	return func(yield func(string, *v1alpha1.Route) bool) { walkRoutes(path, r, yield) }
}

// walkRoutes calls yield for a route and its child routes until it returns false. Remarks are made about accepted objects
// only, which have at most budget.Routes routes, nested no deeper than budget.RouteDepth.
func walkRoutes(path string, r *v1alpha1.Route, yield func(string, *v1alpha1.Route) bool) bool {
	if !yield(path, r) {
		return false
	}
	for i, text := range r.Routes {
		var child v1alpha1.Route
		if json.Unmarshal(text.Raw, &child) == nil && !walkRoutes(fmt.Sprintf("%s.routes[%d]", path, i), &child, yield) {
			return false
		}
	}
	return true
}

// alertLabels returns the values of the labels that rules give to alerts, by the name of the label, without templates.
func (l *linter) alertLabels() map[string]map[string]bool {
	if l.labels != nil {
		return l.labels
	}
	l.labels = map[string]map[string]bool{}
	for _, o := range l.objects.All(catalog.PrometheusRule) {
		for _, group := range o.(*v1.PrometheusRule).Spec.Groups {
			for i := range group.Rules {
				for name, value := range group.Rules[i].Labels {
					if group.Rules[i].Alert == "" || strings.Contains(value, "{{") {
						continue
					}
					if l.labels[name] == nil {
						l.labels[name] = map[string]bool{}
					}
					l.labels[name][value] = true
				}
			}
		}
	}
	return l.labels
}

package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// severityRemarks reports matchers of a route with a value that no alert among the manifests has, although many have one
// that is almost the same.
func (l *linter) severityRemarks(note says, r *route) {
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
			note(fmt.Sprintf("%s.matchers[%d].value", r.path, i), "no alert among the manifests has %s=%q, did you mean %q? Values of labels are compared with their case", m.Name, m.Value, meant)
		}
	}
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

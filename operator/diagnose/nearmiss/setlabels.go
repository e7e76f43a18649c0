package nearmiss

import (
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SetLabels are the labels that relabeling steps may set.
type SetLabels map[string]bool

// anyLabel is the key in [SetLabels] of steps that may set any label other than those that begin with __.
const anyLabel = "$"

// LabelsSetBy returns the labels that lists of steps may set.
func LabelsSetBy(lists ...[]v1.RelabelConfig) SetLabels {
	set := SetLabels{}
	for _, steps := range lists {
		for i := range steps {
			set.Add(&steps[i])
		}
	}
	return set
}

// Add adds the labels that a step may set.
func (l SetLabels) Add(s *v1.RelabelConfig) {
	name := s.TargetLabel
	if strings.EqualFold(s.Action, "labelmap") {
		name = anyLabel
		if s.Replacement != nil {
			name = *s.Replacement
		}
	}
	if begin, _, open := strings.Cut(name, "$"); open {
		l[anyLabel] = true
		if strings.HasPrefix(begin, "__") {
			l["__"] = true
		}
		return
	}
	l[name] = true
}

// Has reports whether a label may be set.
func (l SetLabels) Has(label string) bool {
	if strings.HasPrefix(label, "__") {
		return l[label] || l["__"]
	}
	return l[label] || l[anyLabel]
}

package selection

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

// Miss is one requirement of a selector that labels do not meet.
type Miss struct {
	Requirement string `json:"requirement"` // as selectors are written: "team in (a,b)"
	Label       string `json:"label"`
	Value       string `json:"value,omitempty"` // of the label; also empty if the label does not exist
	// Present reports whether the label exists; absent if that is unknown.
	Present *bool `json:"present,omitempty"`
}

// Has reports whether the label is certainly there, with another value.
func (m Miss) Has() bool { return m.Present != nil && *m.Present }

// Unseen returns the requirement alone, for readers who may not see the labels.
func (m Miss) Unseen() Miss { return Miss{Requirement: m.Requirement, Label: m.Label} }

// String returns a human-readable description: `team in (a,b), but team is "c"`; the requirement alone if the label is unknown.
func (m Miss) String() string {
	if m.Present == nil {
		return m.Requirement
	}
	if !m.Has() {
		return fmt.Sprintf("%s, but there is no label %s", m.Requirement, m.Label)
	}
	return fmt.Sprintf("%s, but %s is %q", m.Requirement, m.Label, m.Value)
}

// namespaceMisses returns the requirements that the labels of a namespace do not meet,
// sorted by label; empty without a namespace selector.
func (r Rule) namespaceMisses(nsLabels labels.Set) []Miss { return misses(r.namespaces, nsLabels) }

// labelMisses returns the requirements that the labels of an object do not meet, sorted
// by label; empty without an object selector.
func (r Rule) labelMisses(objLabels labels.Set) []Miss { return misses(r.objects, objLabels) }

func misses(s labels.Selector, set labels.Set) []Miss {
	if s == nil {
		return nil
	}
	requirements, _ := s.Requirements() // selectors of the API are always selectable
	var out []Miss
	for _, r := range requirements {
		if !r.Matches(set) {
			value, present := set[r.Key()]
			out = append(out, Miss{Requirement: r.String(), Label: r.Key(), Value: value, Present: &present})
		}
	}
	return out
}

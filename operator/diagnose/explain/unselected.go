package explain

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Unselected is an object that no workload selects.
type Unselected struct {
	catalog.Ref
	Message string `json:"message"` // reason for each workload
}

// String returns object and reason in one line.
func (u Unselected) String() string {
	return u.Ref.String() + "   " + strings.ReplaceAll(u.Message, "\n", "; ")
}

// UnselectedOf returns the objects that no workload selects, sorted by kind, namespace and name.
func UnselectedOf(o *manifests.Objects) (out []Unselected) {
	for _, f := range lint.Unselected(o) {
		out = append(out, Unselected{catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}, f.Message})
	}
	slices.SortFunc(out, func(a, b Unselected) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return out
}

package explain

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
)

// FromManifests asks about an object among manifests, which were read for the kinds.
//
// Errors: the object is not among them.
func FromManifests(o *offline.Objects, setups []engine.Setup, n Name) (Question, error) {
	q := Question{Row: n.row, Setups: setups, NamespaceLabels: o.NamespaceLabels, NamespaceUnknown: o.NamespaceUnknown, References: &o.References, AsWritten: o.AsWritten}
	var others []string
	for _, obj := range o.All(n.row) {
		if obj.GetNamespace() == n.Namespace && obj.GetName() == n.Name {
			q.Object = obj
		}
		others = append(others, obj.GetNamespace()+"/"+obj.GetName())
	}
	if q.Object == nil {
		return q, fmt.Errorf("no %s among the manifests (%s)", n, hold(n, others))
	}
	for _, w := range o.Workloads() {
		for _, s := range setups {
			if s.Kind == w.Kind {
				q.Workloads = append(q.Workloads, Candidate{s, w.Object})
			}
		}
	}
	return q, nil
}

// maxOthers bounds the objects that an error names.
const maxOthers = 10

func hold(n Name, others []string) string {
	rest := ""
	if more := len(others) - maxOthers; more > 0 {
		others, rest = others[:maxOthers], fmt.Sprintf(" and %d more", more)
	}
	if len(others) == 0 {
		return "they hold no " + n.row.Kind
	}
	return "they hold " + strings.Join(others, ", ") + rest
}

package explain

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Use is a workload that uses the object.
type Use struct {
	Candidate
	Text string // what the object becomes in the rule file or in the configuration
}

// String is for people: "Prometheus monitoring/k8s".
func (u Use) String() string {
	return catalog.Ref{Kind: u.Setup.Row.Kind, Namespace: u.Object.GetNamespace(), Name: u.Object.GetName()}.String()
}

// Uses are the workloads that select and accept the object, in the order of the question.
//
// Errors: the text cannot be read.
func (q Question) Uses() ([]Use, error) {
	var out []Use
	for _, c := range q.Workloads {
		if _, excluded := (inquiry{q: &q, c: c}).ask(kindSupported, objectSelected); excluded {
			continue
		}
		verdicts, _ := c.selects(&q) // a workload that is wrong uses nothing
		for _, v := range verdicts {
			if v.Err != nil || v.Text == nil {
				continue
			}
			var text strings.Builder
			if _, err := v.Text.WriteTo(&text); err != nil {
				return nil, err
			}
			out = append(out, Use{c, text.String()})
		}
	}
	return out, nil
}

package explain

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Use is a workload that uses the object.
type Use struct {
	Candidate
	Text string // compiled object, as it appears in the rule file or the configuration
}

// String returns kind and name of the workload, "Prometheus monitoring/k8s".
func (u Use) String() string {
	return catalog.Ref{Kind: u.Setup.Row.Kind, Namespace: u.Object.GetNamespace(), Name: u.Object.GetName()}.String()
}

// Uses returns the workloads that select and accept the object, in the order of q.Workloads.
//
// Errors: the compiled text cannot be written.
func (q Question) Uses() ([]Use, error) {
	var out []Use
	for _, c := range q.Workloads {
		if _, excluded := (inquiry{q: &q, c: c}).ask(kindSupported, objectSelected); excluded {
			continue
		}
		results, _ := c.selects(&q) // an invalid workload uses nothing
		for _, v := range results {
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

package explain

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/render"
)

// FromManifests asks about an object among manifests.
//
// Errors: the object is not among them.
func FromManifests(o *render.Objects, n Name) (Question, error) {
	q := Question{Kind: n.subject.kind, NamespaceLabels: o.NamespaceLabels, References: &o.References}
	var others []string
	for _, obj := range n.subject.given(o) {
		if obj.GetNamespace() == n.Namespace && obj.GetName() == n.Name {
			q.Object = obj
		}
		others = append(others, obj.GetNamespace()+"/"+obj.GetName())
	}
	if q.Object == nil {
		return q, fmt.Errorf("no %s among the manifests (%s)", n, hold(n, others))
	}
	for _, p := range o.Prometheuses {
		q.Owners = append(q.Owners, Prometheus(prometheus.ForServer(p)))
	}
	for _, a := range o.PrometheusAgents {
		q.Owners = append(q.Owners, Prometheus(prometheus.ForAgent(a)))
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
		return "they hold no " + n.subject.kind
	}
	return "they hold " + strings.Join(others, ", ") + rest
}

var _ informer.Object = prometheusOwner{}

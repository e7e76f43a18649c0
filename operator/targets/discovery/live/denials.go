package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Denials are what the ServiceAccount of a workload may not list or watch of what jobs discover.
// The zero value denies nothing.
type Denials struct {
	account account
	lacks   map[where][]string // verbs
}

// Denied asks what the ServiceAccount of a workload may not read of what jobs discover. Notes say
// why that is not known.
func (c Cluster) Denied(ctx context.Context, jobs []targets.Job, w Workload) (Denials, []string) {
	lacks, notes := c.denied(ctx, w.account(), newPlan(jobs, w.Namespace).places())
	return Denials{w.account(), lacks}, notes
}

// Allowed returns what is left of a discovery of a job in a workload of namespace own, nil for
// nothing, and a gap for each reason for which Prometheus discovers nothing in a namespace.
func (d Denials) Allowed(sd *targets.KubernetesSD, own string) (*targets.KubernetesSD, []targets.Gap) {
	views, err := viewsOf(sd, own)
	if len(d.lacks) == 0 || err != nil {
		return sd, nil // whoever subscribes reports the error
	}
	var gaps []targets.Gap
	var scopes []string
	for _, v := range views {
		before := len(gaps)
		for _, l := range v.lists {
			if verbs := d.lacks[l.where()]; verbs != nil {
				gaps = append(gaps, targets.Gap{State: targets.Forbidden, Message: forbidden(d.account, verbs, l.where(), v)})
			}
		}
		if len(gaps) == before {
			scopes = append(scopes, v.scope)
		}
	}
	switch {
	case len(gaps) == 0:
		return sd, nil
	case len(scopes) == 0:
		return nil, gaps
	}
	out := *sd
	out.Namespaces = targets.Namespaces{Names: scopes}
	return &out, gaps
}

// Key is equal for denials that have the same effect on a job.
func (d Denials) Key(j *targets.Job, own string) string {
	var out strings.Builder
	for sd := range discovery.Distinct(j) {
		_, gaps := d.Allowed(sd, own)
		for _, gap := range gaps {
			fmt.Fprintln(&out, gap.Message)
		}
	}
	return out.String()
}

package lister

import (
	"context"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Denials are the permissions to list and watch that the ServiceAccount of a workload lacks for the
// discoveries of its jobs. The zero value denies nothing.
type Denials struct {
	account account
	lacks   map[where][]string // verbs
}

// Denied checks which permissions for the discoveries of jobs the ServiceAccount of a workload
// lacks. The notes are the reasons why that is unknown.
func (c Cluster) Denied(ctx context.Context, jobs []targets.Job, w Workload) (Denials, []string) {
	lacks, notes := c.denied(ctx, w.account(), newPlan(jobs, w.Namespace).places())
	return Denials{w.account(), lacks}, notes
}

// Allowed returns the permitted part of a discovery in a workload of namespace own, nil if there is
// none, and a gap for each reason why Prometheus discovers nothing in a namespace.
func (d Denials) Allowed(sd *targets.KubernetesSD, own string) (*targets.KubernetesSD, []targets.Gap) {
	views, err := viewsOf(sd, own)
	if len(d.lacks) == 0 || err != nil {
		return sd, nil // the subscription reports the error
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

// Key returns a key that is equal for denials with the same effect on a job.
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

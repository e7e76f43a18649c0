package nearmiss

import (
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Job is the value of the label job that the targets of a monitor get.
type Job struct {
	Monitor string   // "ServiceMonitor app/web"
	Names   []string // by which users call it in place of its job; none for kinds other than ServiceMonitor
	Values  []string
}

// Jobs returns the jobs of ServiceMonitors whose Services are known, and those of all other kinds.
func (v *View) Jobs(uses []Use) (out []Job) {
	for _, u := range uses {
		m, is := u.Object.(*v1.ServiceMonitor)
		if !is {
			other := Job{Monitor: u.String(), Values: []string{u.Object.GetName(), u.Object.GetNamespace() + "/" + u.Object.GetName()}}
			for i := range u.Searches {
				other.Values = append(other.Values, u.Searches[i].Job)
			}
			out = append(out, other)
			continue
		}
		job := Job{Monitor: u.String(), Names: []string{m.Name, m.Namespace + "/" + m.Name}}
		for i := range u.Searches {
			s := &u.Searches[i]
			job.Names = append(job.Names, s.Job)
			for _, svc := range v.selected(s) {
				job.Names = append(job.Names, svc.namespace+"/"+svc.name)
				value := svc.labels[s.jobLabel]
				if s.jobLabel == "" || value == "" {
					value = svc.name
				}
				job.Values = compact(append(job.Values, value))
			}
		}
		if len(job.Values) > 0 && !slices.ContainsFunc(m.Spec.Endpoints, func(e v1.Endpoint) bool { return renames(e.RelabelConfigs) || renames(e.MetricRelabelConfigs) }) {
			out = append(out, job)
		}
	}
	return out
}

// renames reports whether relabel steps may set the job.
func renames(steps []v1.RelabelConfig) bool {
	return slices.ContainsFunc(steps, func(s v1.RelabelConfig) bool {
		return s.TargetLabel == "job" || strings.EqualFold(s.Action, "labelmap")
	})
}

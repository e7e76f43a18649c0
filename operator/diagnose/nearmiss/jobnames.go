package nearmiss

import (
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Jobs are the values of the label job that the targets of monitors get.
type Jobs struct {
	Values map[string]bool
	// Meant are the jobs of ServiceMonitors by what users call them in place of their job.
	Meant map[string]Job
}

// Job is a job of a ServiceMonitor.
type Job struct {
	Monitor string // "ServiceMonitor app/web"
	Value   string
}

// Jobs returns the jobs of ServiceMonitors whose Services are known, and those of all other kinds.
func (v *View) Jobs(uses []Use) Jobs {
	out := Jobs{Values: map[string]bool{}, Meant: map[string]Job{}}
	for _, u := range uses {
		m, is := u.Object.(*v1.ServiceMonitor)
		if !is {
			out.Values[u.Object.GetName()], out.Values[u.Object.GetNamespace()+"/"+u.Object.GetName()] = true, true
			for i := range u.Searches {
				out.Values[u.Searches[i].Job] = true
			}
			continue
		}
		if !slices.ContainsFunc(m.Spec.Endpoints, func(e v1.Endpoint) bool { return renames(e.RelabelConfigs) || renames(e.MetricRelabelConfigs) }) {
			v.addJobs(out, m, u)
		}
	}
	return out
}

// addJobs adds the jobs of a ServiceMonitor. Its endpoints mostly select the same Services, which are looked at once.
func (v *View) addJobs(out Jobs, m *v1.ServiceMonitor, u Use) {
	job := Job{Monitor: u.String()}
	names := []string{m.Name, m.Namespace + "/" + m.Name}
	seen := map[string]bool{}
	for i := range u.Searches {
		s := &u.Searches[i]
		names = append(names, s.Job)
		for _, svc := range v.selected(s) {
			id := svc.namespace + "/" + svc.name
			if seen[id] {
				continue
			}
			seen[id] = true
			names = append(names, id)
			value := svc.labels[s.jobLabel]
			if s.jobLabel == "" || value == "" {
				value = svc.name
			}
			out.Values[value] = true
			if job.Value == "" {
				job.Value = value
			}
		}
	}
	if job.Value == "" {
		return
	}
	for _, name := range names {
		if _, first := out.Meant[name]; !first {
			out.Meant[name] = job
		}
	}
}

// renames reports whether relabel steps may set the job.
func renames(steps []v1.RelabelConfig) bool {
	return slices.ContainsFunc(steps, func(s v1.RelabelConfig) bool {
		return s.TargetLabel == "job" || strings.EqualFold(s.Action, "labelmap")
	})
}

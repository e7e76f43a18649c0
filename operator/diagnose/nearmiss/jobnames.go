package nearmiss

import (
	"cmp"
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Jobs are the values of the label job that the targets of monitors get.
type Jobs struct {
	Values map[string]bool
	// Meant are the jobs of monitors by what users call them in place of their job.
	Meant map[string]Job
}

// Job is the job of a monitor.
type Job struct {
	Monitor string // "ServiceMonitor app/web"
	Value   string
	From    string // what the value is, as part of a sentence
}

// Jobs returns the jobs of monitors. Those that depend on objects outside of the view, or that relabelings and samples may
// set, may have the name of their object.
func (v *View) Jobs(uses []Use) Jobs {
	out := Jobs{Values: map[string]bool{}, Meant: map[string]Job{}}
	for _, u := range uses {
		switch m := u.Object.(type) {
		case *v1.ServiceMonitor:
			if !slices.ContainsFunc(m.Spec.Endpoints, func(e v1.Endpoint) bool { return setJob(e.RelabelConfigs, e.MetricRelabelConfigs) }) {
				v.addJobs(out, m, u)
			}
			continue
		case *v1.PodMonitor:
			v.addPodJobs(out, m, u)
		case *v1.Probe:
			out.addJob(u, probeJob(m), "its jobName, or its kind, namespace and name without it")
		case *v1alpha1.ScrapeConfig:
			out.addJob(u, scrapeJob(m), "its jobName, or its kind, namespace and name without it")
		}
	}
	return out
}

// addJob adds the job of a monitor other than a ServiceMonitor. An empty value may be any.
func (j Jobs) addJob(u Use, value, from string) {
	names := []string{u.Object.GetName(), u.Object.GetNamespace() + "/" + u.Object.GetName()}
	for i := range u.Searches {
		names = append(names, u.Searches[i].Job)
	}
	if value == "" {
		for _, name := range names {
			j.Values[name] = true
		}
		return
	}
	j.Values[value] = true
	j.mean(names, Job{u.String(), value, from})
}

// mean adds what users may call a job. The first job of a name is kept.
func (j Jobs) mean(names []string, job Job) {
	for _, name := range names {
		if _, first := j.Meant[name]; !first {
			j.Meant[name] = job
		}
	}
}

// addPodJobs adds the jobs of a PodMonitor: its namespace and name, or the values of a label of pods.
func (v *View) addPodJobs(out Jobs, m *v1.PodMonitor, u Use) {
	set := slices.ContainsFunc(m.Spec.PodMetricsEndpoints, func(e v1.PodMetricsEndpoint) bool {
		return e.HonorLabels || setJob(e.RelabelConfigs, e.MetricRelabelConfigs)
	})
	value := m.Namespace + "/" + m.Name
	if m.Spec.JobLabel != "" {
		out.Values[value] = true // pods may lack the label
		value = ""
		if len(u.Searches) > 0 {
			for _, p := range v.selectedPods(&u.Searches[0]) {
				if job := p.labels[m.Spec.JobLabel]; job != "" {
					out.Values[job] = true
					value = job
				}
			}
		}
	}
	if set {
		value = ""
	}
	out.addJob(u, value, "its namespace and name, or the value of jobLabel")
}

// selectedPods returns the pods that a search for pods selects.
func (v *View) selectedPods(s *Search) (out []pods) {
	inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
	for _, p := range inside {
		if s.selector == nil || p.matches(s.selector) {
			out = append(out, p)
		}
	}
	return out
}

// probeJob returns the job of a Probe; empty if it may be any.
func probeJob(m *v1.Probe) string {
	var steps []v1.RelabelConfig
	value := "probe/" + m.Namespace + "/" + m.Name
	if s := m.Spec.Targets.StaticConfig; s != nil {
		steps, value = s.RelabelConfigs, cmp.Or(s.Labels["job"], value)
	} else if s := m.Spec.Targets.Ingress; s != nil {
		steps = s.RelabelConfigs
	}
	if setJob(steps, m.Spec.MetricRelabelConfigs) {
		return ""
	}
	return cmp.Or(m.Spec.JobName, value)
}

// scrapeJob returns the job of a ScrapeConfig; empty if it may be any, because discovery, relabelings or samples may set it.
func scrapeJob(m *v1alpha1.ScrapeConfig) string {
	labelled := slices.ContainsFunc(m.Spec.StaticConfigs, func(s v1alpha1.StaticConfig) bool { return s.Labels["job"] != "" })
	switch {
	case m.Spec.HonorLabels != nil && *m.Spec.HonorLabels, setJob(m.Spec.RelabelConfigs, m.Spec.MetricRelabelConfigs):
		return ""
	case m.Spec.JobName == "" && (labelled || len(m.Spec.HTTPSDConfigs)+len(m.Spec.FileSDConfigs) > 0):
		return ""
	}
	return cmp.Or(m.Spec.JobName, "scrapeConfig/"+m.Namespace+"/"+m.Name)
}

// addJobs adds the jobs of a ServiceMonitor. Its endpoints mostly select the same Services, which are looked at once.
func (v *View) addJobs(out Jobs, m *v1.ServiceMonitor, u Use) {
	job := Job{Monitor: u.String(), From: "the name of the Service, or the value of jobLabel"}
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
		out.Values[m.Name] = true // the probable name of a Service elsewhere
		for _, value := range m.Spec.Selector.MatchLabels {
			out.Values[value] = true
		}
		return
	}
	out.mean(names, job)
}

// setJob reports whether steps may set the job.
func setJob(steps ...[]v1.RelabelConfig) bool { return LabelsSetBy(steps...).Has("job") }

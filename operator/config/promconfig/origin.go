package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Origin is the source of a relabel step of a job.
type Origin struct {
	// Path is the path of a field: "spec.endpoints[0].port" of the object itself, "workload
	// spec.enforcedNamespaceLabel", "scrape class main relabelings[0]". Steps that do not
	// originate from a field begin with "operator: ".
	Path string
}

// ShardingOrigin is the origin of the steps that assign each target to one shard.
const ShardingOrigin = "operator: sharding"

// Origins of steps that originate from the operator or from a field of the workload.
const (
	jobNameOrigin        = "operator: job name before relabeling"
	nodeAndPodOrigin     = "operator: node and pod of the address"
	namespaceOrigin      = "operator: label namespace"
	serviceOrigin        = "operator: label service"
	podOrigin            = "operator: label pod"
	containerOrigin      = "operator: label container"
	ingressOrigin        = "operator: label ingress"
	instanceOrigin       = "operator: label instance"
	jobOrigin            = "operator: label job"
	targetOrigin         = "operator: target as a parameter of the prober"
	listURLOrigin        = "operator: no label of central discovery"
	ingressAddressOrigin = "operator: address of the Ingress"
	finishedPodsOrigin   = "operator: pods that ended"
	enforcedOrigin       = "workload spec.enforcedNamespaceLabel"
	workloadPodLabels    = "workload spec.podTargetLabels"
	additionalOrigin     = "workload spec.additionalScrapeConfigs"
)

// WithOrigins returns a copy of the settings for evaluating jobs, which records the origin of each
// relabel step: [Fragment.Origins] and [Frame.Origins]. Jobs are compiled as without central
// discovery. All other results are the same. The key is the same too, so do not cache
// fragments with origins by key.
func (s *Settings) WithOrigins() *Settings {
	out := *s
	out.origins = true
	return &out
}

// stepList builds the relabel steps of one job. The methods take paths separately from indices
// and keys, so that paths are only formatted if origins are recorded.
type stepList struct {
	steps   []Step
	origins []Origin // same length as steps if traced
	traced  bool
}

// stepList returns the empty list of a job.
func (c *compiler) stepList() stepList { return stepList{traced: c.s.origins} }

// done returns the steps of the next job and records their origins.
func (c *compiler) done(l *stepList) []Step {
	if l.traced {
		c.origins = append(c.origins, l.origins)
	}
	return l.steps
}

// fieldOf returns the path of a field of a list item: "spec.endpoints[0].port". It returns ""
// if origins are not recorded.
func (l *stepList) fieldOf(list string, i int, field string) string {
	if !l.traced {
		return ""
	}
	return faults.Index(list, i) + "." + field
}

// add appends a step that originates from a field or from the operator.
func (l *stepList) add(step Step, path string) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{path})
	}
}

// addItem appends a step that originates from a list item.
func (l *stepList) addItem(step Step, path string, i int) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{faults.Index(path, i)})
	}
}

// addKey appends a step that originates from a map key.
func (l *stepList) addKey(step Step, path, key string) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{faults.Key(path, key)})
	}
}

// addAll appends steps with the same origin.
func (l *stepList) addAll(steps []Step, path string) {
	l.steps = append(l.steps, steps...)
	if l.traced {
		for range steps {
			l.origins = append(l.origins, Origin{path})
		}
	}
}

// addRelabel appends user-defined steps.
func (l *stepList) addRelabel(configs []v1.RelabelConfig, path string) {
	l.steps = appendRelabel(l.steps, configs)
	if l.traced {
		for i := range configs {
			l.origins = append(l.origins, Origin{faults.Index(path, i)})
		}
	}
}

// addClass appends the steps of a scrape class.
func (l *stepList) addClass(class *v1.ScrapeClass) {
	path := ""
	if l.traced {
		path = "scrape class " + class.Name + " relabelings"
	}
	l.addRelabel(class.RelabelConfigs, path)
}

// addEnforced appends the step of the enforced namespace label, if any.
func (l *stepList) addEnforced(step Step) {
	if step != nil {
		l.add(step, enforcedOrigin)
	}
}

package promconfig

import (
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Origin is where a relabel step of a job comes from.
type Origin struct {
	// Path is the field as users write it: "spec.endpoints[0].port" of the object
	// itself, "workload spec.enforcedNamespaceLabel", "scrape class main relabelings[0]".
	// Steps that no field asks for begin with "operator: ".
	Path string
}

// ShardingOrigin is that of the steps that leave each target to one shard.
const ShardingOrigin = "operator: sharding"

// Origins of steps that no field asks for, or a field of the workload.
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
	ingressAddressOrigin = "operator: address of the Ingress"
	finishedPodsOrigin   = "operator: pods that ended"
	enforcedOrigin       = "workload spec.enforcedNamespaceLabel"
	workloadPodLabels    = "workload spec.podTargetLabels"
	additionalOrigin     = "workload spec.additionalScrapeConfigs"
)

// WithOrigins are the same settings for a caller that wants to know the origin of each
// relabel step: [Fragment.Origins] and [Frame.Origins]. Everything else that is compiled is
// the same. The key is the same too, so what is kept by it should be compiled without origins.
func (s *Settings) WithOrigins() *Settings {
	out := *s
	out.origins = true
	return &out
}

// stepList is the relabel steps of one job in the making. The methods take paths
// apart from indices and keys, so that nothing is spelled out when nobody asks.
type stepList struct {
	steps   []Step
	origins []Origin // as long as steps when traced
	traced  bool
}

// stepList starts the list of a job.
func (c *compiler) stepList() stepList { return stepList{traced: c.s.origins} }

// done returns the steps of the next job.
func (c *compiler) done(l *stepList) []Step {
	if l.traced {
		c.origins = append(c.origins, l.origins)
	}
	return l.steps
}

// fieldOf is a field of an item of a list: "spec.endpoints[0].port". It is empty when
// nobody asks for origins.
func (l *stepList) fieldOf(list string, i int, field string) string {
	if !l.traced {
		return ""
	}
	return indexed(list, i) + "." + field
}

func indexed(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// add appends a step that comes from a field, or from the operator.
func (l *stepList) add(step Step, path string) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{path})
	}
}

// addItem appends a step that comes from an item of a list.
func (l *stepList) addItem(step Step, path string, i int) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{indexed(path, i)})
	}
}

// addKey appends a step that comes from a key of a map.
func (l *stepList) addKey(step Step, path, key string) {
	l.steps = append(l.steps, step)
	if l.traced {
		l.origins = append(l.origins, Origin{path + "[" + key + "]"})
	}
}

// addAll appends steps of one origin.
func (l *stepList) addAll(steps []Step, path string) {
	l.steps = append(l.steps, steps...)
	if l.traced {
		for range steps {
			l.origins = append(l.origins, Origin{path})
		}
	}
}

// addRelabel appends a list of the user's steps.
func (l *stepList) addRelabel(configs []v1.RelabelConfig, path string) {
	l.steps = appendRelabel(l.steps, configs)
	if l.traced {
		for i := range configs {
			l.origins = append(l.origins, Origin{indexed(path, i)})
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

// addEnforced appends the step of the enforced namespace label, if there is one.
func (l *stepList) addEnforced(step Step) {
	if step != nil {
		l.add(step, enforcedOrigin)
	}
}

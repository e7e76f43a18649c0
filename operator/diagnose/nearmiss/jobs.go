package nearmiss

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/jobtext"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Read returns the searches of the jobs of an object, in their order. text is the scrape_configs
// that a workload compiled it to, and discovering the same with the discovery of the servers
// themselves: another text with central discovery only. own is the namespace of the workload.
// Objects without jobs have no searches.
//
// Errors: a text cannot be parsed as jobs.
func Read(object catalog.Object, text, discovering, own string) ([]Search, error) {
	switch object.(type) {
	case *v1.ServiceMonitor, *v1.PodMonitor, *v1.Probe, *v1alpha1.ScrapeConfig:
	default:
		return nil, nil
	}
	jobs, err := jobtext.Discoveries([]byte(discovering))
	if err != nil {
		return nil, err
	}
	by, err := discoverers(jobs, text, discovering)
	if err != nil {
		return nil, err
	}
	ports := portsOf(object)
	var out []Search
	for i := range jobs {
		j := &jobs[i]
		for n := range j.Kubernetes {
			s := searchOf(j, n, own)
			s.By = by[j.Name]
			s.owner, s.ownerName = object.GetNamespace(), object.GetName()
			s.describe(object, i, n)
			s.scrape.anonymous, s.scrape.own = j.Identity.Anonymous(), j.Identity.Own()
			s.others = ports
			out = append(out, s)
		}
		for _, text := range others(j) {
			out = append(out, Search{Job: j.Name, Text: text})
		}
	}
	return out, nil
}

// discoverers returns who discovers the targets of each job, by its name. jobs are those of
// discovering.
//
// Errors: the text cannot be parsed as jobs.
func discoverers(jobs []jobtext.Job, text, discovering string) (map[string]wellknown.TargetDiscovery, error) {
	if text != discovering {
		var err error
		if jobs, err = jobtext.Discoveries([]byte(text)); err != nil {
			return nil, err
		}
	}
	out := map[string]wellknown.TargetDiscovery{}
	for i := range jobs {
		out[jobs[i].Name] = jobs[i].Discovery()
	}
	return out, nil
}

// searchOf returns discovery n of the job, without the parts that are only in the object.
func searchOf(j *jobtext.Job, n int, own string) Search {
	sd := j.Kubernetes[n]
	s := Search{Job: j.Name, Role: sd.Role, Elsewhere: sd.APIServer != "", Nodes: sd.Attach.Node, NamespaceMetadata: sd.Attach.Namespace}
	if s.Namespaces = sd.Namespaces.Names; sd.Namespaces.Own {
		s.Namespaces = append(s.Namespaces, own)
	}
	if len(s.Namespaces) == 0 {
		s.Namespaces = nil
	}
	return s
}

// others returns human-readable descriptions of the discoveries other than Kubernetes.
func others(j *jobtext.Job) (out []string) {
	targets := 0 // count them only: their URLs may contain credentials
	for _, s := range j.Static {
		targets += len(s.Targets)
	}
	if targets > 0 {
		out = append(out, report.Count(targets, "static target"))
	}
	if j.Discovery() == wellknown.CentralDiscovery { // its own discovery could not be compiled
		out = append(out, "what the discovery service finds in the cluster")
	}
	for _, key := range j.Others() {
		out = append(out, "what "+key+" finds")
	}
	return out
}

// portsOf returns the ports that the endpoints of a ServiceMonitor name.
func portsOf(object catalog.Object) map[string]bool {
	m, is := object.(*v1.ServiceMonitor)
	if !is {
		return nil
	}
	out := map[string]bool{}
	for _, e := range m.Spec.Endpoints {
		out[e.Port] = true
	}
	return out
}

// describe adds the parts of discovery n of job i that are only in the object.
func (s *Search) describe(object catalog.Object, i, n int) {
	switch o := object.(type) {
	case *v1.ServiceMonitor:
		s.namespacesOf("spec.namespaceSelector", o.Spec.NamespaceSelector)
		s.selects("spec.selector", &o.Spec.Selector)
		s.jobLabel, s.targetLabels, s.podLabels = o.Spec.JobLabel, o.Spec.TargetLabels, o.Spec.PodTargetLabels
		if i < len(o.Spec.Endpoints) {
			s.serviceEndpoint(&o.Spec.Endpoints[i], fmt.Sprintf("spec.endpoints[%d]", i))
			s.scrape.several = len(o.Spec.Endpoints) > 1
		}
	case *v1.PodMonitor:
		s.namespacesOf("spec.namespaceSelector", o.Spec.NamespaceSelector)
		s.selects("spec.selector", &o.Spec.Selector)
		s.jobLabel, s.podLabels = o.Spec.JobLabel, o.Spec.PodTargetLabels
		if i < len(o.Spec.PodMetricsEndpoints) {
			s.podEndpoint(&o.Spec.PodMetricsEndpoints[i], fmt.Sprintf("spec.podMetricsEndpoints[%d]", i))
			s.scrape.several = len(o.Spec.PodMetricsEndpoints) > 1
		}
	case *v1.Probe:
		if ingress := o.Spec.Targets.Ingress; ingress != nil {
			s.namespacesOf("spec.targets.ingress.namespaceSelector", ingress.NamespaceSelector)
			s.selects("spec.targets.ingress.selector", &ingress.Selector)
		}
	case *v1alpha1.ScrapeConfig:
		if n < len(o.Spec.KubernetesSDConfigs) {
			s.scrapeConfig(&o.Spec.KubernetesSDConfigs[n], fmt.Sprintf("spec.kubernetesSDConfigs[%d]", n))
			s.point.filtered = true // its relabelings decide
		}
	}
}

func (s *Search) namespacesOf(field string, n v1.NamespaceSelector) {
	s.namespaceField = field
	s.limited = s.Namespaces != nil && n.Any || !n.Any && len(n.MatchNames) > 0 && !slices.Equal(s.Namespaces, n.MatchNames)
}

func (s *Search) selects(field string, l *metav1.LabelSelector) {
	s.selectorField, s.matchLabels = field, l.MatchLabels
	selector, err := metav1.LabelSelectorAsSelector(l)
	if err != nil {
		return // the object is rejected
	}
	if len(l.MatchLabels)+len(l.MatchExpressions) == 0 {
		selector = labels.Everything()
	}
	s.selector = selector
}

func (s *Search) serviceEndpoint(e *v1.Endpoint, field string) {
	switch {
	case e.Port != "":
		s.port = portNamed(servicePort, e.Port, field+".port")
	case e.TargetPort != nil:
		s.port = containerPortOf(*e.TargetPort, field+".targetPort")
	default:
		s.port.field = field
	}
	s.point = pointOf(e.Path, e.Params, e.RelabelConfigs)
	s.scrape = scrapeOf(field, e.Scheme, e.HonorLabels, s.point)
	s.keeps = keepsOf(field+".relabelings", e.RelabelConfigs)
}

func (s *Search) podEndpoint(e *v1.PodMetricsEndpoint, field string) {
	switch {
	case e.Port != "":
		s.port = portNamed(containerName, e.Port, field+".port")
	case e.PortNumber != nil && *e.PortNumber != 0:
		s.port = containerPortOf(intstr.FromInt32(*e.PortNumber), field+".portNumber")
	case e.TargetPort != nil:
		s.port = containerPortOf(*e.TargetPort, field+".targetPort")
	default:
		s.port.field = field
	}
	s.point = pointOf(e.Path, e.Params, e.RelabelConfigs)
	s.scrape = scrapeOf(field, e.Scheme, e.HonorLabels, s.point)
	s.keeps = keepsOf(field+".relabelings", e.RelabelConfigs)
	if e.Port != "" { // the only name that is left, whatever the pods have
		s.keeps = slices.DeleteFunc(s.keeps, func(k keep) bool { return k.what == namesOfPorts })
	}
}

func scrapeOf(field string, scheme v1.Scheme, honorLabels bool, p point) scrape {
	return scrape{field: field, scheme: cmp.Or(strings.ToLower(string(scheme)), "http"), path: p.path, honorLabels: honorLabels, relabeled: p.filtered}
}

// pointOf returns the properties of a target other than its port. Relabelings can drop targets, and
// change their address, path and parameters.
func pointOf(path string, params map[string][]string, relabelings []v1.RelabelConfig) point {
	text, _ := json.Marshal(params) // marshaling strings does not fail
	p := point{path: cmp.Or(path, "/metrics"), params: string(text)}
	for _, r := range relabelings {
		switch strings.ToLower(string(r.Action)) {
		case "", "replace", "lowercase", "uppercase", "hashmod":
			p.filtered = p.filtered || strings.HasPrefix(r.TargetLabel, "__")
		case "labeldrop", "labelkeep":
		default:
			p.filtered = true
		}
	}
	return p
}

// scrapeConfig adds the selector of the objects that become targets.
func (s *Search) scrapeConfig(sd *v1alpha1.KubernetesSDConfig, field string) {
	s.namespaceField = field + ".namespaces.names"
	s.port.field = field
	for i, sel := range sd.Selectors {
		role := strings.ToLower(string(sel.Role))
		same := role == s.Role || role == roleService && s.forServices()
		if selector, err := labels.Parse(sel.Label); err == nil && same && sel.Field == "" {
			s.selector, s.selectorField = selector, fmt.Sprintf("%s.selectors[%d].label", field, i)
			return
		}
	}
}

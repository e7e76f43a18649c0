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
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// jobText is the relevant part of a compiled job.
type jobText struct {
	Name       string `json:"job_name"`
	Kubernetes []struct {
		Role       string `json:"role"`
		Namespaces *struct {
			Names []string `json:"names"`
			Own   bool     `json:"own_namespace"`
		} `json:"namespaces"`
		APIServer string `json:"api_server"`
		Attach    struct {
			Node      bool `json:"node"`
			Namespace bool `json:"namespace"`
		} `json:"attach_metadata"`
	} `json:"kubernetes_sd_configs"`
	Static []struct {
		Targets []string `json:"targets"`
	} `json:"static_configs"`
}

// Read returns the searches of the jobs of an object, in their order. text is the scrape_configs
// that a workload compiled it to. own is the namespace of the workload. Objects without jobs have
// no searches.
//
// Errors: the text cannot be parsed as jobs.
func Read(object catalog.Object, text, own string) ([]Search, error) {
	var jobs []jobText
	var keys []map[string]any
	switch object.(type) {
	case *v1.ServiceMonitor, *v1.PodMonitor, *v1.Probe, *v1alpha1.ScrapeConfig:
	default:
		return nil, nil
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		return nil, fmt.Errorf("read the compiled jobs: %w", err)
	}
	if err := yaml.Unmarshal([]byte(text), &keys); err != nil {
		return nil, fmt.Errorf("read the compiled jobs: %w", err)
	}
	var out []Search
	for i, j := range jobs {
		for n := range j.Kubernetes {
			s := j.search(n, own)
			s.owner, s.ownerName = object.GetNamespace(), object.GetName()
			s.describe(object, i, n)
			out = append(out, s)
		}
		for _, text := range j.others(keys[i]) {
			out = append(out, Search{Job: j.Name, Text: text})
		}
	}
	return out, nil
}

// search returns discovery n of the job, without the parts that are only in the object.
func (j *jobText) search(n int, own string) Search {
	sd := j.Kubernetes[n]
	s := Search{Job: j.Name, Role: sd.Role, Elsewhere: sd.APIServer != "", Nodes: sd.Attach.Node, NamespaceMetadata: sd.Attach.Namespace}
	if sd.Namespaces != nil {
		s.Namespaces = sd.Namespaces.Names
		if sd.Namespaces.Own {
			s.Namespaces = append(s.Namespaces, own)
		}
	}
	if len(s.Namespaces) == 0 {
		s.Namespaces = nil
	}
	return s
}

// others returns human-readable descriptions of the discoveries other than Kubernetes.
func (j *jobText) others(keys map[string]any) (out []string) {
	targets := 0 // count them only: their URLs may contain credentials
	for _, s := range j.Static {
		targets += len(s.Targets)
	}
	if targets > 0 {
		out = append(out, fmt.Sprintf("%d static %s", targets, plural(targets, "target")))
	}
	var found []string
	for key := range keys {
		if strings.HasSuffix(key, "_sd_configs") && key != "kubernetes_sd_configs" {
			found = append(found, "what "+key+" finds")
		}
	}
	slices.Sort(found)
	return append(out, found...)
}

// describe adds the parts of discovery n of job i that are only in the object.
func (s *Search) describe(object catalog.Object, i, n int) {
	switch o := object.(type) {
	case *v1.ServiceMonitor:
		s.namespacesOf("spec.namespaceSelector", o.Spec.NamespaceSelector)
		s.selects("spec.selector", &o.Spec.Selector)
		s.jobLabel = o.Spec.JobLabel
		if i < len(o.Spec.Endpoints) {
			s.serviceEndpoint(&o.Spec.Endpoints[i], fmt.Sprintf("spec.endpoints[%d]", i))
		}
	case *v1.PodMonitor:
		s.namespacesOf("spec.namespaceSelector", o.Spec.NamespaceSelector)
		s.selects("spec.selector", &o.Spec.Selector)
		s.jobLabel = o.Spec.JobLabel
		if i < len(o.Spec.PodMetricsEndpoints) {
			s.podEndpoint(&o.Spec.PodMetricsEndpoints[i], fmt.Sprintf("spec.podMetricsEndpoints[%d]", i))
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

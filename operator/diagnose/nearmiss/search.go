package nearmiss

import (
	"regexp"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Roles of Kubernetes discovery.
const (
	roleEndpoints     = "endpoints"
	roleEndpointSlice = "endpointslice"
	roleService       = "service"
	rolePod           = "pod"
	roleIngress       = "ingress"
	roleNode          = "node"
)

// Search is what a job looks for with one of its discoveries.
type Search struct {
	// Job is its job_name; empty for the Alertmanagers of a Prometheus.
	Job string
	// Role of the discovery as in the configuration; empty where it does not ask Kubernetes.
	Role string
	// Text is what it looks for where it does not ask Kubernetes, in words.
	Text string
	// Namespaces to look into; nil for all.
	Namespaces []string
	// Elsewhere says that it asks another cluster.
	Elsewhere bool
	// Nodes and NamespaceMetadata say that metadata of nodes and namespaces is attached.
	Nodes, NamespaceMetadata bool

	owner          string // namespace of the object
	ownerName      string
	namespaceField string // the field that limits the namespaces
	limited        bool   // by the workload, which ignores that field
	selector       labels.Selector
	selectorField  string
	matchLabels    map[string]string // of the selector, as written
	name           *pattern          // of the Service; only of Alertmanagers
	nameField      string
	port           port
	jobLabel       string
	// point is what a target is besides its port: two of one pod with the same are one
	// target scraped twice.
	point  point
	scrape scrape
}

type point struct {
	path, params string
	filtered     bool // by relabelings that may drop one of two
}

// asksKubernetes reports whether it looks for objects of the cluster of the workload.
func (s *Search) asksKubernetes() bool { return s.Role != "" && !s.Elsewhere }

// forServices reports whether it looks for Services, or what is behind them.
func (s *Search) forServices() bool {
	return s.Role == roleEndpoints || s.Role == roleEndpointSlice || s.Role == roleService
}

// port is the port of a search.
type port struct {
	of    portKind
	want  pattern // by name
	n     int32   // by number
	field string
}

type portKind int

const (
	everyPort       portKind = iota
	servicePort              // a port of the Service, by name
	containerName            // a port that a container declares, by name
	containerNumber          // the same by number
)

// pattern is a name as relabeling compares it: a regular expression for all of it.
type pattern struct {
	text string
	re   *regexp.Regexp
}

func newPattern(text string) pattern {
	re, err := regexcost.Compile("^(?s:" + text + ")$")
	if err != nil {
		re = regexp.MustCompile("^" + regexp.QuoteMeta(text) + "$") // it is rejected
	}
	return pattern{text, re}
}

func (p pattern) matches(name string) bool { return p.re.MatchString(name) }

// portNamed is a port of a Service.
func portNamed(of portKind, name, field string) port {
	return port{of: of, want: newPattern(name), field: field}
}

// containerPortOf is a targetPort: name or number of a container port.
func containerPortOf(p intstr.IntOrString, field string) port {
	switch {
	case p.StrVal != "":
		return portNamed(containerName, p.StrVal, field)
	case p.IntVal != 0:
		return port{of: containerNumber, n: p.IntVal, field: field}
	}
	return port{field: field}
}

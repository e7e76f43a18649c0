package nearmiss

import (
	"regexp"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Roles of Kubernetes service discovery.
const (
	roleEndpoints     = "endpoints"
	roleEndpointSlice = "endpointslice"
	roleService       = "service"
	rolePod           = "pod"
	roleIngress       = "ingress"
	roleNode          = "node"
)

// Search describes the objects that a job discovers with one of its service discoveries.
type Search struct {
	// Job is the job_name; empty for the Alertmanagers of a Prometheus.
	Job string
	// Role is the role in the Kubernetes service discovery configuration; empty for other mechanisms.
	Role string
	// Text is a human-readable description of a mechanism other than Kubernetes.
	Text string
	// Namespaces are the namespaces to search; nil for all.
	Namespaces []string
	// Elsewhere means that the discovery uses another cluster.
	Elsewhere bool
	// By is who discovers these objects.
	By wellknown.TargetDiscovery
	// Nodes and NamespaceMetadata mean that metadata of nodes and namespaces is attached.
	Nodes, NamespaceMetadata bool

	owner          string // namespace of the object
	ownerName      string
	namespaceField string // field that limits the namespaces
	limited        bool   // limited by the workload, which ignores that field
	selector       labels.Selector
	selectorField  string
	matchLabels    map[string]string // matchLabels of the selector
	name           *pattern          // of the Service; only for Alertmanagers
	nameField      string
	port           port
	jobLabel       string
	targetLabels   []string        // labels of Services that targets get
	podLabels      []string        // labels of pods that targets get
	keeps          []keep          // of the relabelings
	others         map[string]bool // names of the ports of other endpoints of the object
	// point identifies a target apart from its port. Two targets of one pod with the same
	// point are scraped twice.
	point  point
	scrape scrape
}

type point struct {
	path, params string
	filtered     bool // relabelings may drop one of two
}

// asksKubernetes reports whether it discovers objects of the workload's cluster.
func (s *Search) usesKubernetes() bool { return s.Role != "" && !s.Elsewhere }

// forServices reports whether it discovers Services or their endpoints.
func (s *Search) forServices() bool {
	return s.Role == roleEndpoints || s.Role == roleEndpointSlice || s.Role == roleService
}

// port is the port that a search selects.
type port struct {
	of    portKind
	want  pattern // by name
	n     int32   // by number
	field string
}

type portKind int

const (
	everyPort       portKind = iota
	servicePort              // port of the Service, by name
	containerName            // port declared by a container, by name
	containerNumber          // port declared by a container, by number
)

// pattern is an anchored regular expression, as relabeling uses for names.
type pattern struct {
	text string
	re   *regexp.Regexp // nil for a text that matches itself only, like nearly every name of a port
}

func newPattern(text string) pattern {
	if regexp.QuoteMeta(text) == text {
		return pattern{text: text}
	}
	re, err := regexcost.Whole(text)
	if err != nil {
		re = regexp.MustCompile("^" + regexp.QuoteMeta(text) + "$") // invalid expressions are rejected elsewhere
	}
	return pattern{text, re}
}

func (p pattern) matches(name string) bool {
	if p.re == nil {
		return name == p.text
	}
	return p.re.MatchString(name)
}

// portNamed returns a named port of the given kind.
func portNamed(of portKind, name, field string) port {
	return port{of: of, want: newPattern(name), field: field}
}

// containerPortOf returns the port for a targetPort, which is the name or number of a container port.
func containerPortOf(p intstr.IntOrString, field string) port {
	switch {
	case p.StrVal != "":
		return portNamed(containerName, p.StrVal, field)
	case p.IntVal != 0:
		return port{of: containerNumber, n: p.IntVal, field: field}
	}
	return port{field: field}
}

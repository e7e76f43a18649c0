package nearmiss

import (
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// roleWords are the kinds of objects that roles discover.
var roleWords = map[string]string{
	roleEndpoints: "Services", roleEndpointSlice: "Services", roleService: "Services", rolePod: "Pods", roleIngress: "Ingresses", roleNode: "Nodes",
}

// String returns a human-readable form: `Services in namespace app with label app=web, and in their
// endpoints the port named "http"`.
func (s *Search) String() string {
	if s.Role == "" {
		return s.Text
	}
	text := roleWords[s.Role]
	if s.name != nil {
		text = fmt.Sprintf("Service %q", s.name.text)
	}
	text += s.where()
	if s.selector != nil && !s.selector.Empty() {
		text += " with " + s.labels()
	}
	if s.Elsewhere {
		text += " of another cluster"
	}
	return text + s.portWords()
}

// where returns " in namespace app".
func (s *Search) where() string {
	switch {
	case s.Role == roleNode:
		return ""
	case s.Namespaces == nil:
		return " in all namespaces"
	}
	return " in " + namespaceList(s.Namespaces)
}

func namespaceList(names []string) string {
	return report.Plural(len(names), "namespace") + " " + and(names)
}

// labels returns "label app=web" or "labels app=web,tier=a".
func (s *Search) labels() string {
	requirements, _ := s.selector.Requirements()
	return report.Plural(len(requirements), "label") + " " + s.selector.String()
}

func (s *Search) portWords() string {
	if s.Role == roleIngress || s.Role == roleNode || s.Role == roleService {
		return ""
	}
	pods := s.Role == rolePod
	switch s.port.of {
	case servicePort:
		return fmt.Sprintf(", and in %s endpoints the port named %q", s.their(), s.port.want.text)
	case containerName:
		if pods {
			return fmt.Sprintf(", and of them the container port named %q", s.port.want.text)
		}
		return fmt.Sprintf(", and of %s pods the container port named %q", s.their(), s.port.want.text)
	case containerNumber:
		if pods {
			return fmt.Sprintf(", and of them the container port %d", s.port.n)
		}
		return fmt.Sprintf(", and of %s pods the container port %d", s.their(), s.port.n)
	}
	if pods {
		return ", and of them every port"
	}
	return ", and in " + s.their() + " endpoints every port"
}

// their returns the pronoun for the objects that are found.
func (s *Search) their() string {
	if s.name != nil {
		return "its"
	}
	return "their"
}

// Discoverer describes who discovers the objects if it is not the server alone: "Prometheus and the
// discovery service". Otherwise it is empty.
func (s *Search) Discoverer() string {
	switch s.By {
	case wellknown.CentralDiscovery:
		return "the discovery service, not Prometheus; it finds only what the ServiceAccount may list and watch"
	case wellknown.BothDiscoveries:
		return "Prometheus and the discovery service"
	}
	return ""
}

// Account describes the ServiceAccount of a search and the permissions it needs: "ServiceAccount
// monitoring/k8s, which must list and watch services, endpoints and pods in namespace app". It is
// empty for a search that does not read from the cluster.
func (s *Search) Account(a Account) string {
	if !s.usesKubernetes() {
		return ""
	}
	var here, cluster []string
	for _, r := range s.resources() {
		if r.cluster {
			cluster = append(cluster, r.name)
		} else {
			here = append(here, r.name)
		}
	}
	var what []string
	if len(here) > 0 {
		what = append(what, and(here)+s.where())
	}
	if len(cluster) > 0 {
		what = append(what, and(cluster))
	}
	return fmt.Sprintf("%s, which must list and watch %s", a, strings.Join(what, ", and "))
}

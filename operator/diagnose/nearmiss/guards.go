package nearmiss

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// guard is a proxy or server that authenticates scrapes with the API server.
type guard struct {
	by    string  // "kube-rbac-proxy"
	ports []int32 // on which it listens
	open  []string
	// configured means that a file decides what the ServiceAccount needs.
	configured bool
	// likely means that the arguments do not say so, but scaffolds of such programs.
	likely bool
}

const rbacProxy = "kube-rbac-proxy"

// container evaluates the image and the arguments of a container.
func (g *guard) container(c *corev1.Container) {
	args := slices.Concat(c.Command, c.Args)
	if imageName(c.Image) == rbacProxy {
		g.proxy(args)
		return
	}
	var port int32
	secure, said := false, false
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "--metrics-bind-address":
			port = portIn(value)
		case "--metrics-secure":
			secure, said = value != "false", true
		}
	}
	if port != 0 && (secure || !said && port == 8443) {
		g.by, g.likely = cmp.Or(g.by, "a server of controller-runtime"), !secure
		g.ports = append(g.ports, port)
	}
}

// proxy evaluates the arguments of kube-rbac-proxy.
func (g *guard) proxy(args []string) {
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "--secure-listen-address":
			if port := portIn(value); port != 0 {
				g.by, g.ports = rbacProxy, append(g.ports, port)
			}
		case "--ignore-paths":
			g.open = append(g.open, strings.Split(value, ",")...)
		case "--config-file":
			g.configured = true
		}
	}
}

// portIn returns the port of an address; 0 if it has none.
func portIn(address string) int32 {
	port, err := strconv.ParseUint(address[strings.LastIndexByte(address, ':')+1:], 10, 16)
	if err != nil {
		return 0
	}
	return int32(port)
}

// guards returns the pods whose guard is asked by a scrape of a port.
func (s scrape) guards(p foundPort) (pods, bool) {
	for _, b := range p.behind {
		if slices.Contains(b.guard.ports, cmp.Or(p.leadsTo, p.target)) && !slices.Contains(b.guard.open, s.path) {
			return b, true
		}
	}
	return pods{}, false
}

// serviceAccountToken is the file with the token of the ServiceAccount of a pod.
const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// unauthorized returns a hint when the targets want to know who scrapes them, and the scrape does not say it.
func (s scrape) unauthorized(ports []foundPort) []Hint {
	if !s.anonymous || s.scheme != "https" {
		return nil
	}
	for _, p := range ports {
		if b, is := s.guards(p); is {
			field, remedy := s.identify()
			return []Hint{{Code: Remark, Note: b.guard.likely, Field: field, Message: fmt.Sprintf(
				"is not set, and %s leads to %s in the pods of %s, which answers 401 without the token of a ServiceAccount that may get the nonResourceURL %s: %s", p, b.guard.by, b, s.path, remedy)}}
		}
	}
	return nil
}

// identify returns the field by which a scrape says who asks, and what to write there.
func (s scrape) identify() (field, remedy string) {
	if strings.HasPrefix(s.field, "spec.podMetricsEndpoints[") {
		return s.field + ".authorization", "write {credentials: {name: …, key: token}}, a Secret with such a token"
	}
	return s.field + ".bearerTokenFile", "write " + serviceAccountToken
}

// guardOf returns who answers a search, if it asks the API server what the ServiceAccount of the workload may do; empty
// if none does.
func (v *View) guardOf(s *Search) string {
	if !v.guarded || !s.scrape.own && !s.scrape.anonymous || s.scrape.relabeled {
		return ""
	}
	for _, p := range v.foundPorts(s) {
		if b, is := s.scrape.guards(p); is && !b.guard.configured {
			return b.guard.by
		}
	}
	return ""
}

// unknownToComponent returns a hint about a component of Kubernetes that wants to know who scrapes it. Its Services are
// mostly not among the manifests.
func (s *Search) unknownToComponent() []Hint {
	c := s.component()
	if c == "" || !s.scrape.anonymous || s.scrape.relabeled {
		return nil
	}
	field, remedy := s.scrape.identify()
	return []Hint{{Code: Remark, Field: field, Message: fmt.Sprintf("is not set, and the %s answers 401 or 403 to anonymous requests: %s", c, remedy)}}
}

// kubeletPaths are the paths below which kubelets have metrics.
var kubeletPaths = []string{"/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/resource", "/metrics/slis"}

// kubeletPath returns a hint about a path that is almost one of the kubelet.
func (s *Search) kubeletPath() []Hint {
	path := s.scrape.path
	if s.component() != kubelet || s.scrape.relabeled || slices.Contains(kubeletPaths, path) {
		return nil
	}
	for _, meant := range kubeletPaths[1:] {
		if alike(path, meant) || path == meant[len("/metrics"):] {
			return []Hint{{Code: Remark, Field: s.scrape.field + ".path", Message: fmt.Sprintf("%s is no path of the kubelet, which answers 404: did you mean %q?", path, meant)}}
		}
	}
	return nil
}

// kubeletPorts are the names of the ports of the Service that operators keep for the kubelets.
var kubeletPorts = []string{"https-metrics", "http-metrics", "cadvisor"}

// kubeletPort returns a hint about a port that is almost one of the Service of the kubelets, which is not in the view.
func (s *Search) kubeletPort() []Hint {
	name := s.port.want.text
	if s.port.of != servicePort || slices.Contains(kubeletPorts, name) || !s.names(kubelet) {
		return nil
	}
	for _, meant := range kubeletPorts {
		if alike(name, meant) {
			return []Hint{{Code: NoTarget, Field: s.port.field, Message: fmt.Sprintf(
				"the Service that the operator keeps for the kubelets (--kubelet-service) has the ports %s: did you mean %q?", and(kubeletPorts), meant)}}
		}
	}
	return nil
}

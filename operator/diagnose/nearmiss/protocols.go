package nearmiss

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// protocols holds the protocols and addresses of the ports of containers, according to their probes and arguments.
type protocols struct {
	tls, plain []int32 // ports that probes of the containers ask by HTTPS and HTTP
	local      string  // an argument by which a server listens on the loopback interface only
}

// argument evaluates an argument of a container.
func (s *protocols) argument(arg string) {
	_, address, is := strings.Cut(arg, "--web.listen-address=")
	if s.local == "" && is && (strings.HasPrefix(address, "127.0.0.1:") || strings.HasPrefix(address, "localhost:") || strings.HasPrefix(address, "[::1]:")) {
		s.local = arg
	}
}

// container evaluates the probes of a container.
func (s *protocols) container(c *corev1.Container) {
	for _, probe := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
		if probe == nil || probe.HTTPGet == nil {
			continue
		}
		number := probe.HTTPGet.Port.IntVal
		for _, p := range c.Ports {
			if p.Name != "" && p.Name == probe.HTTPGet.Port.StrVal {
				number = p.ContainerPort
			}
		}
		switch {
		case number == 0:
		case probe.HTTPGet.Scheme == corev1.URISchemeHTTPS:
			s.tls = append(s.tls, number)
		default:
			s.plain = append(s.plain, number)
		}
	}
}

// probed returns a note when the probes of the pods ask the ports by the other scheme.
func (s scrape) probed(ports []foundPort) []Hint {
	for _, p := range ports {
		for _, b := range p.behind {
			tls, plain := slices.Contains(b.protocols.tls, p.leadsTo), slices.Contains(b.protocols.plain, p.leadsTo)
			note := Hint{Code: Remark, Note: true, Field: s.field + ".scheme"}
			switch {
			case s.scheme == "http" && tls && !plain:
				note.Message = fmt.Sprintf("is http, and the probes of %s ask port %d by HTTPS: write scheme: https, with what tlsConfig needs", b, p.leadsTo)
			case s.scheme == "https" && plain && !tls:
				note.Message = fmt.Sprintf("is https, and the probes of %s ask port %d by HTTP: write scheme: http if it does not speak TLS", b, p.leadsTo)
			default:
				continue
			}
			return []Hint{note}
		}
	}
	return nil
}

// webPorts are the names of ports under which programs with --web.route-prefix serve their pages and metrics.
var webPorts = []string{"web", "http", "http-web", "https", "metrics", "http-metrics"}

// reloaderPorts are the names of the ports of the reloaders in pods of the operator.
var reloaderPorts = []string{"reloader-web", "rules-web"}

// prefixed returns a hint when the targets serve their metrics below another path, by their arguments. Thanos
// applies the prefix to its pages only.
func (s scrape) prefixed(ports []foundPort) []Hint {
	for _, p := range ports {
		for _, b := range p.behind {
			path := strings.TrimSuffix(b.prefix, "/") + "/metrics"
			own := p.leadsTo == 0 || slices.ContainsFunc(b.ports, func(c corev1.ContainerPort) bool {
				return c.ContainerPort == p.leadsTo && (b.made && !slices.Contains(reloaderPorts, c.Name) || slices.Contains(webPorts, c.Name))
			})
			if b.prefix == "" || s.path == path || s.path != "/metrics" || !own || slices.ContainsFunc(b.images, isThanos) && !b.server.is {
				continue
			}
			return []Hint{{Code: NoTarget, Field: s.field + ".path", Message: fmt.Sprintf(
				"%s is scraped, and %s listens below %s (--web.route-prefix), so it answers 404: write path: %s", s.path, b, b.prefix, path)}}
		}
	}
	return nil
}

// isThanos reports whether an image is Thanos, by its name.
func isThanos(image string) bool { return imageName(image) == "thanos" }

// imageName returns the last part of the name of an image.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	return name
}

// onLoopback returns why pods declare no port, as the end of a message; empty if they do not say that they listen on
// the loopback interface only.
func onLoopback(behind []pods) string {
	for _, b := range behind {
		if b.protocols.local == "" || len(b.ports) > 0 && !b.made {
			continue
		}
		remedy := "listen on the address of the pod"
		if b.made {
			remedy = "remove spec.listenLocal"
		}
		return fmt.Sprintf(": they can be reached from inside of the pod only (%s); %s", b.protocols.local, remedy)
	}
	return ""
}

// described returns a note when the targets describe other objects by labels that the target has too.
func (s scrape) described(ports []foundPort) []Hint {
	if s.honorLabels {
		return nil
	}
	for _, p := range ports {
		main := p.number == 8080 || p.number == 8443 || p.leadsTo == 8080 || p.leadsTo == 8443
		if main && (isStateMetrics(p.of) || slices.ContainsFunc(p.behind, func(b pods) bool { return slices.ContainsFunc(b.images, isStateImage) })) {
			return []Hint{{Code: Remark, Note: true, Field: s.field + ".honorLabels", Message: fmt.Sprintf(
				"is false, and %s is of kube-state-metrics: namespace, pod, container and others of the objects become exported_namespace, exported_pod and so on, without which most rules and dashboards find nothing; write honorLabels: true", p.of)}}
		}
	}
	return nil
}

const stateMetrics = "kube-state-metrics"

func isStateImage(image string) bool { return imageName(image) == stateMetrics }

// isStateMetrics reports whether an object is of kube-state-metrics, by its labels.
func isStateMetrics(t candidate) bool {
	for _, key := range []string{"app.kubernetes.io/name", "k8s-app", "app"} {
		if t.labels[key] == stateMetrics {
			return true
		}
	}
	return false
}

package nearmiss

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// scrape describes how the targets of a search are scraped. The zero value disables hints about it.
type scrape struct {
	field        string // of the endpoint: "spec.endpoints[0]"
	scheme, path string
	honorLabels  bool
	relabeled    bool // relabelings may change address, scheme and path
	anonymous    bool // it sends nothing by which the target knows who asks
	own          bool // it sends the token of the ServiceAccount of the workload
	several      bool // the monitor has other endpoints
}

// Annotations of other scrape configurations, which monitors do not read.
const (
	annotatedScrape = "prometheus.io/scrape"
	annotatedPath   = "prometheus.io/path"
	annotatedPort   = "prometheus.io/port"
	annotatedScheme = "prometheus.io/scheme"
	// maxAnnotation is the maximum length in bytes of annotation values that are compared, since
	// they are untrusted.
	maxAnnotation = 256
)

// foundPort is a port that a search finds, with its Service or pods.
type foundPort struct {
	of      candidate
	name    string
	number  int32 // of the Service or container
	leadsTo int32 // number of the container port; 0 when unknown
	target  int32 // number in the Service of a container port that no container declares; otherwise 0
	behind  []pods
	other   corev1.Protocol // empty for TCP
}

func (p foundPort) String() string {
	text := strconv.Itoa(int(p.number))
	if p.name != "" {
		text = fmt.Sprintf("%s (%d)", p.name, p.number)
	}
	return "port " + text + " of " + p.of.String()
}

// answers returns notes about targets that are found but will probably fail to be scraped.
func (v *View) answers(s *Search) []Hint {
	if s.scrape.field == "" || s.scrape.relabeled {
		return nil
	}
	ports := v.foundPorts(s)
	if len(ports) == 0 {
		return nil
	}
	if hints := overTCP(s, ports); hints != nil {
		return hints
	}
	if hints := retired(s, ports); hints != nil {
		return hints
	}
	return slices.Concat(undeclared(s, ports), s.scrape.unauthorized(ports), s.scrape.loopback(s.port.field, ports), s.scrape.protocol(ports), s.scrape.prefixed(ports), s.scrape.annotated(ports), s.scrape.pushed(ports),
		s.scrape.described(ports), v.meshed(s.scrape, ports))
}

// foundPorts returns the ports that a search for Services or pods finds.
func (v *View) foundPorts(s *Search) (out []foundPort) {
	if s.Role == rolePod {
		inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
		for _, p := range inside {
			if s.selector == nil || p.matches(s.selector) {
				out = append(out, s.port.among(p)...)
			}
		}
		return out
	}
	for _, svc := range v.selected(s) {
		behind := v.behind(svc)
		switch s.port.of {
		case servicePort:
			for _, p := range svc.spec.Ports {
				if s.port.want.matches(p.Name) {
					out = append(out, portOf(svc, p, behind))
				}
			}
		case containerName, containerNumber:
			for _, p := range behind {
				out = append(out, s.port.among(p)...)
			}
		}
	}
	return out
}

// portOf returns a port of a Service with the pods behind it.
func portOf(svc service, p corev1.ServicePort, behind []pods) foundPort {
	out := foundPort{of: svc.candidate, name: p.Name, number: p.Port, behind: behind, other: otherThanTCP(p.Protocol)}
	for _, b := range behind {
		if c, ok := containerPort(b, p); ok {
			out.leadsTo = c.ContainerPort
		}
	}
	if out.leadsTo == 0 && p.TargetPort.StrVal == "" {
		out.target = cmp.Or(p.TargetPort.IntVal, p.Port)
	}
	return out
}

// among returns the ports of a search that the pods declare.
func (p port) among(b pods) (out []foundPort) {
	for _, c := range b.ports {
		if p.wants(c) {
			out = append(out, foundPort{of: b.candidate, name: c.Name, number: c.ContainerPort, leadsTo: c.ContainerPort, behind: []pods{b}, other: otherThanTCP(c.Protocol)})
		}
	}
	return out
}

// otherThanTCP returns a protocol, or nothing for TCP.
func otherThanTCP(p corev1.Protocol) corev1.Protocol {
	if p == corev1.ProtocolTCP {
		return ""
	}
	return p
}

// overTCP returns a hint when no port is one for TCP.
func overTCP(s *Search, ports []foundPort) []Hint {
	if slices.ContainsFunc(ports, func(p foundPort) bool { return p.other == "" }) {
		return nil
	}
	return []Hint{{Code: Remark, Field: s.port.field, Message: fmt.Sprintf("%s has protocol: %s, and Prometheus scrapes over TCP, so each of these scrapes fails: name the port of the metrics", ports[0], ports[0].other)}}
}

// speaksTLS reports whether a port is probably for TLS, by its name or number, or as one of kube-rbac-proxy.
func (p foundPort) speaksTLS() bool {
	if p.proxied() {
		return true
	}
	word := strings.ToLower(p.name)
	if within(word, "http") {
		return false
	}
	return within(word, "https") || p.number == 443 || p.number == 8443 || p.leadsTo == 8443
}

// why returns by what a port is one for TLS.
func (p foundPort) why() string {
	if p.proxied() {
		return ", that of " + rbacProxy
	}
	return ", by its name or number"
}

// proxied reports whether a port is one of kube-rbac-proxy.
func (p foundPort) proxied() bool {
	return slices.ContainsFunc(p.behind, func(b pods) bool { return b.guard.by == rbacProxy && slices.Contains(b.guard.ports, p.leadsTo) })
}

// undeclared returns a note when a Service leads to a number that no container declares, although
// all of them declare ports. Declaring is optional, so something may listen there.
func undeclared(s *Search, ports []foundPort) []Hint {
	for _, p := range ports {
		if p.target == 0 || len(p.behind) == 0 || slices.ContainsFunc(p.behind, func(b pods) bool { return len(b.ports) == 0 }) {
			continue
		}
		return []Hint{{Code: Remark, Note: true, Field: s.port.field, Message: fmt.Sprintf(
			"%s leads to port %d, and the pods of %s declare %s: if nothing listens on %d, correct targetPort of the Service",
			p, p.target, names(candidates(p.behind, ofPods)), containerPorts(p.behind[0].ports), p.target)}}
	}
	return nil
}

// protocol returns a note when all ports are for the other scheme.
func (s scrape) protocol(ports []foundPort) []Hint {
	note := Hint{Code: Remark, Note: true, Field: s.field + ".scheme"}
	switch {
	case s.scheme == "http" && !slices.ContainsFunc(ports, func(p foundPort) bool { return !p.speaksTLS() }):
		note.Message = fmt.Sprintf("is http, and %s is one for TLS%s: write scheme: https, with what tlsConfig needs", ports[0], ports[0].why())
	case s.scheme == "https" && !slices.ContainsFunc(ports, func(p foundPort) bool { return p.name != "http" }):
		note.Message = fmt.Sprintf("is https, and %s is one for plain HTTP, by its name: write scheme: http if it does not speak TLS", ports[0])
	default:
		return s.probed(ports)
	}
	return []Hint{note}
}

// annotated returns notes about annotations that contradict the monitor. Of several endpoints, any may be the one that is meant.
func (s scrape) annotated(ports []foundPort) (out []Hint) {
	if s.several {
		return nil
	}
	scraped := map[int32]bool{}
	for _, p := range ports {
		scraped[p.number], scraped[p.leadsTo] = true, true
	}
	say := func(t candidate, annotation, field, text string) {
		out = append(out, Hint{Code: Remark, Note: true, Field: s.field + "." + field, Message: fmt.Sprintf(
			"%s has the annotation %s: %s, which monitors do not read, and %s", t, annotation, t.annotations[annotation], text)})
	}
	for _, p := range ports {
		for _, t := range append([]candidate{p.of}, candidates(p.behind, ofPods)...) {
			notes := t.annotations
			if len(out) >= maxListed {
				return once(out)
			}
			if notes[annotatedScrape] == "false" {
				continue
			}
			if path := notes[annotatedPath]; len(path) <= maxAnnotation && path != "" && path != s.path && !strings.Contains(path, "?") {
				say(t, annotatedPath, "path", fmt.Sprintf("%s is scraped: write path: %s if the metrics are there", s.path, path))
			}
			if scheme := notes[annotatedScheme]; len(scheme) <= maxAnnotation && scheme != "" && !strings.EqualFold(scheme, s.scheme) {
				say(t, annotatedScheme, "scheme", fmt.Sprintf("%s is used: write scheme: %s if the target speaks it", s.scheme, strings.ToLower(scheme)))
			}
			n, err := strconv.ParseInt(notes[annotatedPort], 10, 32)
			if err == nil && p.leadsTo != 0 && !scraped[int32(n)] {
				say(t, annotatedPort, "port", fmt.Sprintf("port %d is scraped: select the port that leads to %d if the metrics are there", p.leadsTo, n))
			}
		}
	}
	return once(out)
}

// pushed returns a note when the targets are a Pushgateway, whose samples have their own job and
// instance.
func (s scrape) pushed(ports []foundPort) []Hint {
	for _, p := range ports {
		for _, b := range p.behind {
			if !s.honorLabels && slices.ContainsFunc(b.images, isPushgateway) {
				return []Hint{{Code: Remark, Note: true, Field: s.field + ".honorLabels", Message: fmt.Sprintf(
					"is false, and the pods of %s are a Pushgateway: job and instance of what was pushed become exported_job and exported_instance; write honorLabels: true", b)}}
			}
		}
	}
	return nil
}

// isPushgateway reports whether an image is the Pushgateway, by its name.
func isPushgateway(image string) bool {
	name := imageName(image)
	return name == "pushgateway" || name == "prometheus-pushgateway"
}

package nearmiss

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// probe returns hints about fields of Probes: the prober, and the list of targets.
func (v *View) probe(object catalog.Object, own string) (out []Hint) {
	p, is := object.(*v1.Probe)
	if !is {
		return nil
	}
	if s := p.Spec.Targets.StaticConfig; s != nil && len(s.Static) == 0 {
		out = append(out, Hint{Code: NoTarget, Field: "spec.targets.staticConfig", Message: "has no targets: list them in static"})
	}
	if p.Spec.Targets.StaticConfig != nil && p.Spec.Targets.Ingress != nil {
		out = append(out, Hint{Code: Remark, Field: "spec.targets.ingress", Message: "has no effect beside staticConfig: make a second Probe for the Ingresses"})
	}
	return append(out, v.prober(p.Spec.ProberSpec, own)...)
}

// host is the cluster DNS name of a Service, with a port.
type host struct {
	name, namespace string // empty if not in the name
	port            int32  // 0 if not in the address
}

// hostOf parses HOST[:PORT] where HOST is name, name.namespace or name.namespace.svc….
func (v *View) hostOf(text string) (h host, ok bool) {
	text, port, hasPort := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		h.port = int32(n)
	} else if hasPort {
		return h, false
	}
	parts := strings.Split(text, ".")
	h.name = parts[0]
	if len(parts) > 1 {
		h.namespace = parts[1]
	}
	switch {
	case h.name == "" || strings.EqualFold(text, "localhost") || strings.Trim(text, "0123456789.") == "":
		return h, false
	case len(parts) <= 2:
		return h, len(parts) == 1 || slices.Contains(v.namespaces, h.namespace)
	}
	return h, parts[2] == "svc"
}

// prober returns hints about the Service of the prober.
func (v *View) prober(p v1.ProberSpec, own string) []Hint {
	return v.unserved(address{host: p.URL, tls: strings.EqualFold(string(p.Scheme), "https"), field: "spec.prober.url", own: own, client: "the Prometheus"})
}

// address is an address of a Service in a field.
type address struct {
	host  string // HOST[:PORT]
	port  string // the name of the port in a lookup of SRV records; empty for another address
	tls   bool
	field string
	// own is the namespace in which a bare name is looked up, that of the client; empty if unknown.
	own, client string
	// before is the beginning of a URL. What follows the host may be a token.
	before string
}

// unserved returns a hint if the Service of an address does not exist or does not have the port.
func (v *View) unserved(a address) []Hint {
	h, ok := v.hostOf(a.host)
	if !ok || len(v.services) == 0 && v.extent.Whole == nil {
		return nil
	}
	bare := h.namespace == ""
	if bare {
		h.namespace = a.own
	}
	if h.namespace == "" {
		return nil
	}
	var others, similar, longer []service
	for _, svc := range v.services {
		switch here := svc.namespace == h.namespace; {
		case here && svc.name == h.name:
			return a.missing(h, svc)
		case here && alike(svc.name, h.name):
			similar = append(similar, svc)
		case here && (released(svc.name, h.name) || released(h.name, svc.name)):
			longer = append(longer, svc)
		case svc.name == h.name:
			others = append(others, svc)
		}
	}
	meant := slices.Concat(similar, others, longer)
	if len(meant) == 0 && !v.whole("Service", []string{h.namespace}) {
		return nil
	}
	message := fmt.Sprintf("there is no Service %q in namespace %s", h.name, h.namespace)
	if bare {
		message += fmt.Sprintf(", where %s is and this name is looked up", a.client)
	}
	if len(meant) == 0 {
		return []Hint{{Code: NoTarget, Note: true, Field: a.field, Message: message}}
	}
	name := meant[0].name
	if !bare || meant[0].namespace != a.own {
		name += "." + meant[0].namespace + ".svc"
	}
	if h.port > 0 {
		name += fmt.Sprintf(":%d", h.port)
	}
	return []Hint{{Code: NoTarget, Note: len(similar)+len(others) == 0, Field: a.field, Message: fmt.Sprintf("%s; there is %s: did you mean %s%s?", message, meant[0], a.before, name)}}
}

// released reports whether a name is another one of several words with something before it, as a release of Helm has.
func released(name, other string) bool {
	return strings.Contains(other, "-") && strings.HasSuffix(name, "-"+other)
}

// missing returns a hint if the Service does not have the port, or speaks TLS there by its name.
func (a address) missing(h host, svc service) []Hint {
	if a.port != "" {
		if len(svc.spec.Ports) == 0 || slices.ContainsFunc(svc.spec.Ports, func(p corev1.ServicePort) bool { return p.Name == a.port }) {
			return nil
		}
		return []Hint{{Code: NoTarget, Field: a.field, Message: fmt.Sprintf("%s has no port named %q; it has %s: write %s%s", svc, a.port, servicePorts(svc), strings.Replace(a.before, "_"+a.port+".", "_"+a.likely(svc).Name+".", 1), a.host)}}
	}
	port, given := h.port, h.port > 0
	if !given {
		port = defaultPort(a.tls)
	}
	if len(svc.spec.Ports) == 0 {
		return nil
	}
	for _, sp := range svc.spec.Ports {
		if sp.Port != port {
			continue
		}
		if given && !a.tls && (sp.Name == "https" || strings.HasPrefix(sp.Name, "https-")) {
			return []Hint{{Code: Remark, Note: true, Field: a.field, Message: fmt.Sprintf("is asked by HTTP, and port %d of %s is named %s; it has %s: ask by HTTPS if that port speaks TLS, or name another one", port, svc, sp.Name, servicePorts(svc))}}
		}
		return nil
	}
	if svc.spec.ClusterIP == "None" && given {
		return nil // the name resolves to pods, which may have the port
	}
	message := fmt.Sprintf("%s has no port %d; it has %s", svc, port, servicePorts(svc))
	if !given {
		message = fmt.Sprintf("has no port, which means %d; %s has %s", port, svc, servicePorts(svc))
	}
	return []Hint{{Code: NoTarget, Field: a.field, Message: message + fmt.Sprintf(": write %s%s:%d", a.before, strings.Split(a.host, ":")[0], a.likely(svc).Port)}}
}

// likely returns the port of a Service that is probably meant: the first one for HTTP, by its name, or otherwise the first one.
func (a address) likely(svc service) corev1.ServicePort {
	i := slices.IndexFunc(svc.spec.Ports, func(p corev1.ServicePort) bool {
		return !strings.Contains(p.Name, "grpc") && (a.tls || !strings.HasPrefix(p.Name, "https"))
	})
	return svc.spec.Ports[max(i, 0)]
}

// defaultPort returns the port of an address without one.
func defaultPort(tls bool) int32 {
	if tls {
		return 443
	}
	return 80
}

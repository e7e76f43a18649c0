package nearmiss

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mesh is a service mesh. The proxy in each of its pods can require mTLS, and then refuses scrapes
// without a certificate of the mesh. Whether it does is in objects of the mesh or in annotations.
type mesh struct {
	name string
	// proxy is the container that the mesh adds to pods.
	proxy string
	// asks and declines are the values of the label or annotation inject of pods.
	inject         string
	asks, declines string
	// namespace is the label or annotation of a Namespace whose pods get the proxy, with its value;
	// "" means any.
	namespace, namespaceValue string
	// own are ports of the proxy itself, which answer without a certificate.
	own []int32
	// except is the annotation with the ports that the proxy does not handle.
	except string
	// policy is an annotation of pods or Namespaces that says whom the proxy admits. Without it the
	// proxy admits all. Empty if other objects say that.
	policy string
	advice string
}

var meshes = []mesh{
	{
		name: "Istio", proxy: "istio-proxy", inject: "sidecar.istio.io/inject", asks: "true", declines: "false",
		namespace: "istio-injection", namespaceValue: "enabled", own: []int32{15020, 15021, 15090}, except: "traffic.sidecar.istio.io/excludeInboundPorts",
		advice: "if a PeerAuthentication with mode STRICT applies to them, it refuses %s; exempt the port there with portLevelMtls or with the annotation %s: \"%s\" of the pods, " +
			"or write scheme: https and a tlsConfig with certificates of the mesh",
	},
	{
		name: "Linkerd", proxy: "linkerd-proxy", inject: "linkerd.io/inject", asks: "enabled", declines: "disabled",
		namespace: "linkerd.io/inject", namespaceValue: "enabled", own: []int32{4191}, except: "config.linkerd.io/skip-inbound-ports",
		policy: "config.linkerd.io/default-inbound-policy",
		advice: "their policy admits only clients with a certificate of the mesh, so it refuses %s unless Prometheus is in the mesh; write the annotation %s: \"%s\" of the pods, or give the pods of Prometheus the proxy",
	},
}

// meshed returns a note if a mesh may refuse scrapes with plain HTTP.
func (v *View) meshed(s scrape, ports []foundPort) []Hint {
	if s.scheme != "http" {
		return nil
	}
	for _, p := range ports {
		for _, b := range p.behind {
			for i := range meshes {
				m := &meshes[i]
				if p.leadsTo == 0 || slices.Contains(m.own, p.leadsTo) || !v.inMesh(m, b) || m.exempts(b, p.leadsTo) || !v.refuses(m, b) {
					continue
				}
				return []Hint{{Code: Remark, Note: true, Field: s.field + ".scheme", Message: fmt.Sprintf("is http, and the pods of %s have the proxy of %s: ", b, m.name) +
					fmt.Sprintf(m.advice, fmt.Sprintf("port %d", p.leadsTo), m.except, strconv.Itoa(int(p.leadsTo)))}}
			}
		}
	}
	return nil
}

// inMesh reports whether pods have the proxy, or will get it.
func (v *View) inMesh(m *mesh, b pods) bool {
	if slices.Contains(b.containers, m.proxy) {
		return true
	}
	if b.phases != nil {
		return false // they run without it
	}
	for _, of := range []map[string]string{b.labels, b.annotations} {
		switch of[m.inject] {
		case m.asks:
			return true
		case m.declines:
			return false
		}
	}
	return v.namespaceLabels[b.namespace][m.namespace] == m.namespaceValue || v.namespaceNotes[b.namespace][m.namespace] == m.namespaceValue
}

// exempts reports whether the proxy does not handle a port. Values are untrusted.
func (m *mesh) exempts(b pods, port int32) bool {
	list := b.annotations[m.except]
	if len(list) > maxAnnotation {
		return true // it is not read
	}
	for item := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(item), "-")
		if !isRange {
			to = from
		}
		least, err := strconv.ParseInt(from, 10, 32)
		most, also := strconv.ParseInt(to, 10, 32)
		if item == "*" || err == nil && also == nil && int64(port) >= least && int64(port) <= most {
			return true
		}
	}
	return false
}

// refuses reports whether the proxy may refuse clients that have no certificate.
func (v *View) refuses(m *mesh, b pods) bool {
	if m.policy == "" {
		return true
	}
	policy := b.annotations[m.policy]
	if policy == "" {
		policy = v.namespaceNotes[b.namespace][m.policy]
	}
	return policy == "all-authenticated" || policy == "cluster-authenticated" || policy == "deny"
}

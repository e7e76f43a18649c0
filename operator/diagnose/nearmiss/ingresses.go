package nearmiss

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// forIngresses returns hints about a search for Ingresses: the labels, then the rules, of which each path is a
// target, then the Services behind them.
func (v *View) forIngresses(s *Search) []Hint {
	if hints := v.forThings(s, v.ingresses); hints != nil {
		return hints
	}
	inside, _ := split(s.Namespaces, v.ingresses, func(t candidate) candidate { return t })
	var out []Hint
	var empty []candidate
	rules := 0
	for _, t := range inside {
		spec := v.ingressSpecs[t.String()]
		if s.selector != nil && !t.matches(s.selector) {
			continue
		}
		if len(spec.Rules) == 0 {
			empty = append(empty, t)
		}
		rules += len(spec.Rules)
		for i, rule := range spec.Rules {
			if rule.Host == "" && len(out) < maxListed {
				out = append(out, Hint{Code: NoTarget, Note: true, Field: s.objectField(), Message: fmt.Sprintf(
					"spec.rules[%d] of %s has no host, and the address of its targets is the host: probe it by a static target, such as the name of its load balancer", i, t)})
			}
			for _, b := range backends(rule) {
				out = append(out, v.backend(s, t, b)...)
				if len(out) >= maxListed {
					return once(out)
				}
			}
		}
	}
	if rules == 0 && len(empty) > 0 {
		verb := map[bool]string{true: "has", false: "have"}[len(empty) == 1]
		return []Hint{{Code: NoTarget, Field: s.objectField(), Message: fmt.Sprintf("%s %s no rules, and each path of a rule is a target: add a rule with the host, or use static targets", names(empty), verb)}}
	}
	return once(out)
}

// backends returns the Services of the paths of a rule.
func backends(rule networkingv1.IngressRule) (out []*networkingv1.IngressServiceBackend) {
	if rule.HTTP == nil {
		return nil
	}
	for i := range rule.HTTP.Paths {
		if b := rule.HTTP.Paths[i].Backend.Service; b != nil {
			out = append(out, b)
		}
	}
	return out
}

// backend returns a hint if the Service of a path of an Ingress or its port does not exist, so that probes fail.
func (v *View) backend(s *Search, of candidate, b *networkingv1.IngressServiceBackend) []Hint {
	const fails = "so what is probed there answers with an error of the ingress controller"
	if at, known := v.serviceNamed[of.namespace+"/"+b.Name]; known {
		svc := v.services[at]
		if len(svc.spec.Ports) == 0 || svc.hasPort(b.Port) {
			return nil
		}
		port := fmt.Sprintf("%q", b.Port.Name)
		if b.Port.Name == "" {
			port = fmt.Sprint(b.Port.Number)
		}
		return []Hint{{Code: NoTarget, Field: s.objectField(), Message: fmt.Sprintf("%s leads to port %s of %s, which has %s, %s: correct backend.service.port of the Ingress", of, port, svc, servicePorts(svc), fails)}}
	}
	message := fmt.Sprintf("%s leads to Service %q, which is not in namespace %s", of, b.Name, of.namespace)
	inside, _ := v.servicesIn.in([]string{of.namespace}, v.services, ofService)
	if i := slices.IndexFunc(inside, func(svc service) bool { return alike(svc.name, b.Name) }); i >= 0 {
		return []Hint{{Code: NoTarget, Field: s.objectField(), Message: fmt.Sprintf("%s, %s; there is %s: did you mean %q in backend.service.name of the Ingress?", message, fails, inside[i], inside[i].name)}}
	}
	whole := v.whole("Service", []string{of.namespace})
	if !whole && len(inside) == 0 {
		return nil
	}
	has := ""
	if len(inside) > 0 {
		has = "; the namespace has " + names(candidates(inside, ofService))
	}
	return []Hint{{Code: NoTarget, Note: !whole, Field: s.objectField(), Message: message + v.place("Service", []string{of.namespace}) + has + ", " + fails + ": create it, or correct backend.service.name of the Ingress"}}
}

// hasPort reports whether a Service has a port of an Ingress, by name or number.
func (s service) hasPort(port networkingv1.ServiceBackendPort) bool {
	for _, p := range s.spec.Ports {
		if port.Name != "" && p.Name == port.Name || port.Name == "" && p.Port == port.Number {
			return true
		}
	}
	return false
}

package nearmiss

import (
	"cmp"
	"fmt"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Alertmanagers returns the discoveries of a Prometheus for sending alerts, one search for each
// entry of spec.alerting.alertmanagers; none for other workloads.
func Alertmanagers(w v1.Workload) (out []Search) {
	p, is := w.(*v1.Prometheus)
	if !is || p.Spec.Alerting == nil {
		return nil
	}
	role := roleEndpoints
	if p.Spec.ServiceDiscoveryRole == v1.EndpointSliceRole {
		role = roleEndpointSlice
	}
	for i := range p.Spec.Alerting.Alertmanagers {
		am := &p.Spec.Alerting.Alertmanagers[i]
		field := fmt.Sprintf("spec.alerting.alertmanagers[%d]", i)
		s := Search{
			Role: role, Namespaces: []string{p.Namespace}, namespaceField: field + ".namespace", nameField: field + ".name", owner: p.Namespace,
			Elsewhere: p.Spec.APIServerConfig != nil && p.Spec.APIServerConfig.Host != "",
			name:      new(newPattern(am.Name)), port: containerPortOf(am.Port, field+".port"),
		}
		if am.Namespace != "" {
			s.Namespaces = []string{am.Namespace}
		}
		if s.port.of == containerName { // names refer to ports of the Service
			s.port.of = servicePort
		}
		out = append(out, s)
	}
	return out
}

// Alerting returns hints about where a Prometheus sends its alerts.
func (v *View) Alerting(w v1.Workload) (out []Hint) {
	p, is := w.(*v1.Prometheus)
	if !is {
		return nil
	}
	for i, s := range Alertmanagers(p) {
		am := &p.Spec.Alerting.Alertmanagers[i]
		if strings.EqualFold(string(am.APIVersion), "v1") {
			out = append(out, Hint{Code: Remark, Field: fmt.Sprintf("spec.alerting.alertmanagers[%d].apiVersion", i),
				Message: "Alertmanager >= 0.27 serves v2 only, and Prometheus >= 3.0 knows no other, so v1 is left out there: write v2"})
		}
		if bare := bareName(am.Name); bare != "" {
			out = append(out, Hint{Code: NoTarget, Field: s.nameField,
				Message: fmt.Sprintf("is an address, and Prometheus looks for a Service of this name: write the name of the Service alone, such as %s; namespace, port, scheme and pathPrefix are fields of their own", bare)})
			continue
		}
		if s.usesKubernetes() && !v.Crowded() {
			out = append(out, v.forServices(&s)...)
			out = append(out, v.otherPrefix(&s, am.PathPrefix, fmt.Sprintf("spec.alerting.alertmanagers[%d].pathPrefix", i))...)
			to := scrape{field: fmt.Sprintf("spec.alerting.alertmanagers[%d]", i), scheme: cmp.Or(strings.ToLower(string(am.Scheme)), "http")}
			out = append(out, to.probed(v.foundPorts(&s))...)
		}
	}
	return once(out)
}

// bareName returns the name of the Service in an address; empty if name is not an address. Names may be
// regular expressions, so a dot alone says nothing.
func bareName(name string) string {
	_, host, hasScheme := strings.Cut(name, "://")
	if !hasScheme {
		host = name
	}
	if !hasScheme && !strings.ContainsAny(name, ":/") && !strings.Contains(name, ".svc") || strings.ContainsAny(name, "()[]*+?|\\") {
		return ""
	}
	bare, _, _ := strings.Cut(host, ":")
	bare, _, _ = strings.Cut(bare, "/")
	bare, _, _ = strings.Cut(bare, ".")
	return bare
}

// otherPrefix returns a hint if the Alertmanagers behind a Service listen below another path than the one
// to which alerts are sent.
func (v *View) otherPrefix(s *Search, prefix, field string) []Hint {
	sent := "/" + strings.Trim(prefix, "/")
	for _, svc := range v.selected(s) {
		for _, p := range v.behind(svc) {
			if p.prefix == "" || p.prefix == sent {
				continue
			}
			remedy := "set pathPrefix: " + p.prefix
			if p.prefix == "/" {
				remedy = "remove it"
			}
			return []Hint{{Code: NoTarget, Field: field,
				Message: fmt.Sprintf("alerts are sent below %s, and %s behind %s listens below %s (--web.route-prefix), so it answers 404: %s", sent, p, svc, p.prefix, remedy)}}
		}
	}
	return nil
}

// noServiceNamed returns a hint if the namespace has no Service with the name.
func (v *View) noServiceNamed(s *Search) []Hint {
	inside, outside := v.servicesIn.in(s.Namespaces, v.services, ofService)
	namespace := s.Namespaces[0]
	h := Hint{Code: NoTarget, Field: s.nameField, Message: fmt.Sprintf("there is no Service %q in namespace %s", s.name.text, namespace)}
	for _, svc := range inside {
		if alike(svc.name, s.name.text) {
			h.Message += fmt.Sprintf("; there is %s: did you mean %q?", svc, svc.name)
			return []Hint{h}
		}
	}
	for _, svc := range outside {
		if s.name.matches(svc.name) {
			h.Field = s.namespaceField
			h.Message += fmt.Sprintf("; there is %s: set namespace: %s", svc, svc.namespace)
			return []Hint{h}
		}
	}
	for _, p := range v.pods {
		if p.kind != "StatefulSet" || p.namespace != namespace || p.name != "alertmanager-"+s.name.text && p.name != s.name.text {
			continue
		}
		if before := v.before(p); len(before) > 0 {
			if p.name == s.name.text { // a Service of this name may be elsewhere
				h.Note = !v.whole("Service", s.Namespaces)
				h.Message += v.place("Service", s.Namespaces)
				h.Message += fmt.Sprintf("; the pods of Alertmanager %s are behind %s: create it, or write name: %s", strings.TrimPrefix(p.name, "alertmanager-"), before[0], before[0].name)
				return []Hint{h}
			}
			h.Message += fmt.Sprintf("; the pods of Alertmanager %s are behind %s: write name: %s", s.name.text, before[0], before[0].name)
			return []Hint{h}
		}
	}
	if v.whole("Service", s.Namespaces) {
		return []Hint{h}
	}
	return nil
}

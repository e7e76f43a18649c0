package nearmiss

import (
	"regexp"
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Look gives a view of what is around the searches of a workload, and says what of it could not
// be looked at.
type Look func(w v1.Workload, uses []Use) (v *View, unknown []string)

// At looks at one view, whatever the question is.
func At(v *View) Look {
	return func(v1.Workload, []Use) (*View, []string) { return v, nil }
}

// Want is what must be looked at for a search.
type Want struct {
	Kind string // "Service", "Pod", "Ingress" or "Node"
	// Namespaces to look into; nil for all, and for Nodes.
	Namespaces []string
	// Labels is the selector of the search, "" for everything.
	Labels string
	// Name is the only name that is looked for, "" for any.
	Name string
	// Addresses is the kind in which the addresses of Services are found: "Endpoints",
	// "EndpointSlice", or "" when nobody looks for them.
	Addresses string
}

// wantOf is what a search looks for; ok is false when it does not ask the cluster.
func (s *Search) wantOf() (w Want, ok bool) {
	w.Namespaces = s.Namespaces
	if s.selector != nil {
		w.Labels = s.selector.String()
	}
	if s.name != nil && regexp.QuoteMeta(s.name.text) == s.name.text {
		w.Name = s.name.text
	}
	switch s.Role {
	case roleEndpoints:
		w.Addresses = "Endpoints"
	case roleEndpointSlice:
		w.Addresses = "EndpointSlice"
	case rolePod:
		w.Kind = "Pod"
	case roleIngress:
		w.Kind = "Ingress"
	case roleNode:
		w.Kind, w.Namespaces = "Node", nil
	}
	if s.forServices() {
		w.Kind = "Service"
	}
	return w, s.asksKubernetes() && w.Kind != ""
}

// Wants are what must be looked at for hints about an object, for a workload in a namespace.
func (u Use) Wants(own string) (out []Want) {
	add := func(w Want) {
		if !slices.ContainsFunc(out, func(o Want) bool {
			return o.Kind == w.Kind && o.Labels == w.Labels && o.Name == w.Name && slices.Equal(o.Namespaces, w.Namespaces)
		}) {
			out = append(out, w)
		}
	}
	for i := range u.Searches {
		if w, ok := u.Searches[i].wantOf(); ok {
			add(w)
		}
	}
	if p, is := u.Object.(*v1.Probe); is && own != "" {
		host, _, _ := strings.Cut(p.Spec.ProberSpec.URL, ":")
		parts := strings.Split(host, ".")
		if len(parts) > 1 {
			own = parts[1]
		}
		add(Want{Kind: "Service", Namespaces: []string{own}, Name: parts[0]})
	}
	return out
}

// FoundService is a Service that a search finds.
type FoundService struct {
	Namespace, Name string
	// Labels of its pods; "" when it selects none.
	Labels string
}

// Services are those that the searches of an object find, as far as the view knows them.
func (v *View) Services(u Use) (out []FoundService) {
	for i := range u.Searches {
		s := &u.Searches[i]
		if !s.asksKubernetes() || !s.forServices() {
			continue
		}
		for _, svc := range v.selected(s) {
			f := FoundService{svc.namespace, svc.name, selectorOf(svc)}
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Finds reports whether the view has what a want is for.
func (v *View) Finds(u Use, w Want) bool {
	if w.Name != "" {
		inside, _ := in(w.Namespaces, v.services, ofService)
		return slices.ContainsFunc(inside, func(svc service) bool { return svc.name == w.Name })
	}
	for i := range u.Searches {
		s := &u.Searches[i]
		if own, ok := s.wantOf(); !ok || own.Kind != w.Kind || own.Labels != w.Labels || !slices.Equal(own.Namespaces, w.Namespaces) {
			continue
		}
		matches := func(t thing) bool { return s.selector == nil || t.matches(s.selector) }
		switch w.Kind {
		case "Service":
			return len(v.selected(s)) > 0
		case "Pod":
			inside, _ := in(s.Namespaces, v.pods, ofPods)
			return slices.ContainsFunc(inside, func(p pods) bool { return matches(p.thing) })
		}
		all := v.ingresses
		if w.Kind == "Node" {
			all = v.nodes
		}
		inside, _ := in(s.Namespaces, all, func(t thing) thing { return t })
		return slices.ContainsFunc(inside, matches)
	}
	return true
}

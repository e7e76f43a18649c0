package nearmiss

import (
	"regexp"
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Look returns a view of the objects around the searches of a workload, and the reasons why parts
// of it are unknown.
type Look func(w v1.Workload, uses []Use) (v *View, unknown []string)

// At returns a [Look] that always returns the same view.
func At(v *View) Look {
	return func(v1.Workload, []Use) (*View, []string) { return v, nil }
}

// Want is a set of objects that a search needs.
type Want struct {
	Kind string // "Service", "Pod", "Ingress" or "Node"
	// Namespaces are the namespaces to search; nil for all, and for Nodes.
	Namespaces []string
	// Labels is the selector of the search, "" for all objects.
	Labels string
	// Name is the name of the object, "" for any.
	Name string
	// Addresses is the kind with the addresses of Services: "Endpoints", "EndpointSlice", or "" if
	// the search does not need them.
	Addresses string
}

// wantOf returns the objects that a search needs; ok is false when it does not search the cluster.
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
	return w, s.usesKubernetes() && w.Kind != ""
}

// Wants returns the objects that hints about an object need, for a workload in a namespace.
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
	// Labels is the selector of its pods; "" when there is none.
	Labels string
}

// Services returns the Services of the view that the searches of an object find.
func (v *View) Services(u Use) (out []FoundService) {
	for i := range u.Searches {
		s := &u.Searches[i]
		if !s.usesKubernetes() || !s.forServices() {
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

// Finds reports whether the view has an object that a want selects.
func (v *View) Finds(u Use, w Want) bool {
	if w.Name != "" {
		inside, _ := v.servicesIn.in(w.Namespaces, v.services, ofService)
		return slices.ContainsFunc(inside, func(svc service) bool { return svc.name == w.Name })
	}
	for i := range u.Searches {
		s := &u.Searches[i]
		if own, ok := s.wantOf(); !ok || own.Kind != w.Kind || own.Labels != w.Labels || !slices.Equal(own.Namespaces, w.Namespaces) {
			continue
		}
		matches := func(t candidate) bool { return s.selector == nil || t.matches(s.selector) }
		switch w.Kind {
		case "Service":
			return len(v.selected(s)) > 0
		case "Pod":
			inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
			return slices.ContainsFunc(inside, func(p pods) bool { return matches(p.candidate) })
		}
		all := v.ingresses
		if w.Kind == "Node" {
			all = v.nodes
		}
		inside, _ := split(s.Namespaces, all, func(t candidate) candidate { return t })
		return slices.ContainsFunc(inside, matches)
	}
	return true
}

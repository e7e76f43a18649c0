package nearmiss

import (
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Use is an object that a workload uses, with the searches of its jobs.
type Use struct {
	Kind     string
	Object   catalog.Object
	Searches []Search
}

// String returns a human-readable name: "ServiceMonitor app/web".
func (u Use) String() string { return thingOf(u.Kind, u.Object).String() }

// Found is a hint about an object.
type Found struct {
	Use
	Hint Hint
}

// Assumed returns hints about objects, assuming that some unknown workload uses them.
func (v *View) Assumed(uses []Use) (out []Found) {
	for _, u := range uses {
		for _, h := range v.Hints(u, "") {
			out = append(out, Found{u, h})
		}
	}
	return append(out, v.overlaps(uses)...)
}

// Workload returns hints about a workload of a kind and all objects that it uses.
func (v *View) Workload(kind string, w v1.Workload, uses []Use) []Found {
	return append(v.Used(w, uses), v.Own(kind, w, uses)...)
}

// Used returns hints about the objects that a workload uses. They depend on its namespace and, if the view [View.Isolates]
// pods, on its own pods only.
func (v *View) Used(w v1.Workload, uses []Use) (out []Found) {
	isolated := map[string]string{}
	for _, u := range uses {
		hints := v.Hints(u, w.GetNamespace())
		for i := range u.Searches {
			hints = append(hints, v.blocked(w, &u.Searches[i], isolated)...)
		}
		hints = append(hints, v.proberBlocked(w, u.Object, isolated)...)
		for _, h := range once(hints) {
			out = append(out, Found{u, h})
		}
	}
	return append(out, v.overlaps(uses)...)
}

// Own returns hints about a workload of a kind itself.
func (v *View) Own(kind string, w v1.Workload, uses []Use) (out []Found) {
	self := Use{Kind: kind, Object: w, Searches: Alertmanagers(w)}
	for _, h := range slices.Concat(v.Alerting(w), v.Blocked(w, self), v.RemoteWrite(w), v.ThanosRuler(w), v.Permissions(w, append(slices.Clone(uses), self)), v.ScrapePermissions(w, uses), Tokenless(w, uses)) {
		out = append(out, Found{self, h})
	}
	return out
}

// Isolates reports whether there are NetworkPolicies.
func (v *View) Isolates() bool { return len(v.policies) > 0 }

// Hints returns hints about the searches of an object: for each search the first cause, in the
// order in which Prometheus discovers targets. own is the namespace of the workload, empty when
// unknown.
func (v *View) Hints(u Use, own string) []Hint {
	if v.Crowded() {
		return once(repeated(u.Searches))
	}
	out := append(v.probe(u.Object, own), v.addressedBy(u.Object, own)...)
	for i := range u.Searches {
		s := &u.Searches[i]
		switch {
		case !s.usesKubernetes():
		case s.forServices():
			out = append(out, v.forServices(s)...)
			if len(v.selected(s)) == 0 {
				out = append(out, s.kubeletPort()...)
			}
			out = append(out, s.unknownToComponent()...)
			out = append(out, s.kubeletPath()...)
		case s.Role == rolePod:
			out = append(out, v.forPods(s)...)
		case s.Role == roleIngress:
			out = append(out, v.forIngresses(s)...)
		case s.Role == roleNode:
			out = append(out, v.forThings(s, v.nodes)...)
		}
	}
	return once(append(out, repeated(u.Searches)...))
}

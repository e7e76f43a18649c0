//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Follow updates endpoints like the Kubernetes controllers will when the Services of applied
// replace those of under: their ports get the new names and numbers. Endpoints whose addresses may
// change are removed.
//
// It returns a gap in the discovery sd for each Service with removed endpoints.
func (o *Objects) Follow(sd *targets.KubernetesSD, applied, under *Objects) (unknown []targets.Gap) {
	changes, brought := map[string]*follower{}, map[Object]bool{}
	old := map[string]*corev1.Service{}
	for _, object := range under.byRole[roleService] {
		old[object.GetNamespace()+"/"+object.GetName()] = object.(*corev1.Service)
	}
	for _, object := range applied.byRole[roleService] {
		name := object.GetNamespace() + "/" + object.GetName()
		if was := old[name]; was != nil {
			changes[name] = &follower{name: name, was: was, is: object.(*corev1.Service)}
		}
	}
	for _, role := range []string{roleEndpoints, roleEndpointSlice} {
		for _, object := range applied.byRole[role] {
			brought[object] = true
		}
		var kept []Object
		for _, object := range o.byRole[role] {
			if f := changes[serviceOf(object)]; f != nil && !brought[object] {
				object = f.follow(object)
			}
			if object != nil {
				kept = append(kept, object)
			}
		}
		if o.byRole != nil {
			o.byRole[role] = kept
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if f := changes[name]; f.unknown != "" {
			unknown = append(unknown, targets.Gap{State: targets.Unknown, Message: f.unknown, Possible: f.possible(sd)})
		}
	}
	return unknown
}

// ofService are the labels of targets in endpoints that depend on the Service alone.
var ofService = []string{
	"__meta_kubernetes_namespace", "__meta_kubernetes_service_", "__meta_kubernetes_endpoints_name",
	"__meta_kubernetes_endpoint_port_name", "__meta_kubernetes_endpoint_port_protocol",
	"__meta_kubernetes_endpointslice_port_name", "__meta_kubernetes_endpointslice_port_protocol",
}

// possible returns the known labels of the targets behind the new Service: the labels of a target for
// each of its ports, and for other ports of its pods, without those of the pod. It returns nil if
// nothing is known.
func (f *follower) possible(sd *targets.KubernetesSD) *targets.Possible {
	ports := f.is.Spec.Ports
	if len(ports) == 0 {
		ports = append(slices.Clone(f.was.Spec.Ports), corev1.ServicePort{})
	}
	meta := metav1.ObjectMeta{Namespace: f.is.Namespace, Name: f.is.Name, Labels: maps.Clone(f.is.Labels)}
	var all Objects
	all.add(roleService, f.is)
	switch sd.Role {
	case roleEndpoints:
		e := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "0.0.0.0"}}}}}
		for _, p := range ports {
			e.Subsets[0].Ports = append(e.Subsets[0].Ports, corev1.EndpointPort{Name: p.Name, Port: p.Port, Protocol: protocol(p)})
		}
		all.add(roleEndpoints, e)
	case roleEndpointSlice:
		if meta.Labels == nil {
			meta.Labels = map[string]string{}
		}
		meta.Labels[discoveryv1.LabelServiceName] = meta.Name
		e := &discoveryv1.EndpointSlice{ObjectMeta: meta, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"0.0.0.0"}}}}
		for _, p := range ports {
			transport := protocol(p)
			e.Ports = append(e.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &transport})
		}
		all.add(roleEndpointSlice, e)
	}
	plain := targets.KubernetesSD{Role: sd.Role, Release: sd.Release}
	groups, err := all.Groups(&plain, "")
	if err != nil {
		return nil
	}
	out := &targets.Possible{Known: ofService}
	for _, g := range groups {
		other := maps.Clone(g.Labels) // a port that the pod declares and the Service has not
		for _, t := range g.Targets {
			out.Labels = append(out.Labels, g.Labels.Merge(t))
		}
		out.Labels = append(out.Labels, other)
	}
	return out
}

// serviceOf returns the namespace and name of the Service that endpoints belong to.
func serviceOf(object Object) string {
	if slice, is := object.(*discoveryv1.EndpointSlice); is {
		return slice.Namespace + "/" + slice.Labels[discoveryv1.LabelServiceName]
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// follower updates the endpoints of one Service.
type follower struct {
	name    string
	was, is *corev1.Service
	unknown string
}

// follow returns the updated endpoints; nil if they cannot be predicted.
func (f *follower) follow(object Object) Object {
	if len(f.is.Spec.Selector) > 0 && !maps.Equal(f.was.Spec.Selector, f.is.Spec.Selector) { // a manifest without a selector keeps the current one
		f.unknown = fmt.Sprintf("Service %s gets another selector, and which pods it will have is known once it is applied", f.name)
		return nil
	}
	if len(f.was.Spec.Selector) == 0 || len(f.is.Spec.Ports) == 0 || slices.EqualFunc(f.was.Spec.Ports, f.is.Spec.Ports, samePort) {
		return object // endpoints of Services without a selector are managed elsewhere
	}
	switch e := object.(type) {
	case *corev1.Endpoints:
		return f.followEndpoints(e.DeepCopy())
	case *discoveryv1.EndpointSlice:
		return f.followSlice(e.DeepCopy())
	}
	return object
}

// followEndpoints replaces the ports of Endpoints.
func (f *follower) followEndpoints(out *corev1.Endpoints) *corev1.Endpoints {
	for i := range out.Subsets {
		s := &out.Subsets[i]
		numbers := map[string]int32{}
		for _, p := range s.Ports {
			numbers[p.Name] = p.Port
		}
		s.Ports = nil
		for _, p := range f.ports(numbers) {
			s.Ports = append(s.Ports, corev1.EndpointPort{Name: p.Name, Port: p.Port, Protocol: p.Protocol, AppProtocol: p.AppProtocol})
		}
	}
	return out
}

// followSlice replaces the ports of an EndpointSlice.
func (f *follower) followSlice(out *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	numbers := map[string]int32{}
	for _, p := range out.Ports {
		if p.Port != nil {
			name := ""
			if p.Name != nil {
				name = *p.Name
			}
			numbers[name] = *p.Port
		}
	}
	out.Ports = nil
	for _, p := range f.ports(numbers) {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol, AppProtocol: p.AppProtocol})
	}
	return out
}

// ports returns the ports of the new Service with the port numbers of the pods. numbers has the
// numbers of the old ports, by name.
func (f *follower) ports(numbers map[string]int32) (out []corev1.ServicePort) {
	for _, p := range f.is.Spec.Ports {
		p.Protocol = protocol(p)
		target := targetPort(p)
		if target.Type == intstr.Int {
			p.Port = target.IntVal
			out = append(out, p)
			continue
		}
		known := false
		for _, was := range f.was.Spec.Ports {
			if n, has := numbers[was.Name]; has && targetPort(was) == target && protocol(was) == p.Protocol && !known {
				p.Port, known = n, true
				out = append(out, p)
			}
		}
		if !known {
			f.unknown = fmt.Sprintf("port %q of Service %s gets targetPort %q, and its number in the pods is known once it is applied", p.Name, f.name, target.StrVal)
		}
	}
	return out
}

func samePort(a, b corev1.ServicePort) bool {
	return a.Name == b.Name && targetPort(a) == targetPort(b) && protocol(a) == protocol(b)
}

// targetPort returns the targetPort of a port; if it is not set, the port itself.
func targetPort(p corev1.ServicePort) intstr.IntOrString {
	if p.TargetPort == (intstr.IntOrString{}) {
		return intstr.FromInt32(p.Port)
	}
	return p.TargetPort
}

func protocol(p corev1.ServicePort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

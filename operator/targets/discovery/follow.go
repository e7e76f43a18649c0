//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Follow updates endpoints like the Kubernetes controllers will when the Services of applied
// replace those of under: their ports get the new names and numbers. Endpoints whose addresses may
// change are removed.
//
// It returns the reasons, one sentence for each Service with removed endpoints.
func (o *Objects) Follow(applied, under *Objects) (unknown []string) {
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
		if why := changes[name].unknown; why != "" {
			unknown = append(unknown, why)
		}
	}
	return unknown
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
		out := e.DeepCopy()
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
	case *discoveryv1.EndpointSlice:
		out := e.DeepCopy()
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
	return object
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

package nearmiss

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// endpoints are the addresses of a Service, from its Endpoints and EndpointSlices.
type endpoints struct {
	ports          []string // port names; nil when there are no objects, or they have no ports
	ready, unready int
	objects        bool      // there are Endpoints objects
	of             candidate // the Endpoints object
}

func endpointsOf(all map[string]*endpoints, namespace, service string) *endpoints {
	key := namespace + "/" + service
	if all[key] == nil {
		all[key] = &endpoints{}
	}
	return all[key]
}

// byAddresses reports whether manually written Endpoints determine the ports.
func (s service) byAddresses() bool { return len(s.spec.Selector) == 0 && s.addresses != nil }

// portNames returns the port names of the endpoints of a Service.
func (s service) portNames() (out []string) {
	if s.byAddresses() {
		return s.addresses
	}
	for _, p := range s.spec.Ports {
		out = append(out, p.Name)
	}
	return out
}

// containerPort returns the container port that a port of a Service targets; ok is false when the
// pods do not declare it.
func containerPort(p pods, port corev1.ServicePort) (corev1.ContainerPort, bool) {
	target := port.TargetPort
	if target.String() == "" || target == intstr.FromInt32(0) {
		target = intstr.FromInt32(port.Port)
	}
	for _, c := range p.ports {
		if target.StrVal != "" && c.Name == target.StrVal || target.StrVal == "" && c.ContainerPort == target.IntVal {
			return c, true
		}
	}
	return corev1.ContainerPort{}, false
}

// selectorOf returns the pod selector of a Service; "" when it has none.
func selectorOf(svc service) string { return labels.Set(svc.spec.Selector).String() }

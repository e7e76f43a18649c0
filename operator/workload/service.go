package workload

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Peer is a workload of the same kind in the same namespace.
type Peer struct {
	*Base
	Ports   []corev1.ServicePort // required in the shared Service; none if the workload does not use it
	Foreign bool                 // managed by another operator
}

// ServiceUser is a workload with the ports that it needs in the shared Service.
type ServiceUser interface {
	// SharedService is the method of [Base].
	SharedService(own []corev1.ServicePort, peers []Peer) (svc *corev1.Service, lost []faults.Finding)
	// ServicePorts returns no ports if the workload does not use the Service.
	ServicePorts() []corev1.ServicePort
	// Peer is the method of [Base].
	Peer(ports []corev1.ServicePort, foreign bool) Peer
}

// PeerOf returns a workload as a peer of those with which it shares the Service.
func PeerOf(u ServiceUser, foreign bool) Peer { return u.Peer(u.ServicePorts(), foreign) }

// ServicePorts returns the ports of the shared Service, or none if it is not used.
func (b *Base) ServicePorts() []corev1.ServicePort {
	if b.CustomService() {
		return nil
	}
	out := slices.Clone(b.Kind.ServicePorts)
	for i := range out {
		if out[i].Name == "" {
			out[i].Name, out[i].TargetPort = b.PortName(), intstr.FromString(b.PortName())
		}
	}
	return out
}

// Peer returns the workload as a peer, with the ports that it needs in the Service.
func (b *Base) Peer(ports []corev1.ServicePort, foreign bool) Peer {
	return Peer{Base: b, Ports: ports, Foreign: foreign}
}

// SharedService returns the headless Service that gives pods their names. All workloads
// of the kind in a namespace share it, and it selects the pods of all of them. Its ports
// are the union, independent of the managing operator and of b. lost describes the ports
// of this workload, own, that are missing in it.
//
// Plain owner references name the workloads of this operator. They must be merged with
// the existing ones.
func (b *Base) SharedService(own []corev1.ServicePort, peers []Peer) (svc *corev1.Service, lost []faults.Finding) {
	users := []Peer{{Base: b, Ports: own}}
	for _, p := range peers {
		if p.Meta.Name != b.Meta.Name && len(p.Ports) > 0 {
			users = append(users, p)
		}
	}
	slices.SortFunc(users, func(x, y Peer) int {
		return cmp.Or(x.Meta.CreationTimestamp.Compare(y.Meta.CreationTimestamp.Time), cmp.Compare(x.Meta.Name, y.Meta.Name))
	})
	meta := b.ObjectMeta(b.Kind.Service)
	meta.Labels = Overlay(managedBy, map[string]string{b.Kind.OperatedLabel: "true"}, b.Config.Labels)
	meta.OwnerReferences = nil
	for _, u := range users {
		if u.Base == b || !u.Foreign && u.Meta.DeletionTimestamp == nil {
			meta.OwnerReferences = append(meta.OwnerReferences, u.PlainReference())
		}
	}
	ports, lost := b.unitePorts(users)
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Ports:     ports,
			Selector:  map[string]string{wellknown.LabelAppName: b.Kind.AppName},

			PublishNotReadyAddresses: b.Kind.NotReadyAddresses,
		},
	}, lost
}

// unitePorts returns the ports of all workloads, web ports first. Names are unique in a
// Service, and so are port numbers of a protocol. In a collision, the port of the older
// workload is kept.
func (b *Base) unitePorts(users []Peer) (ports []corev1.ServicePort, lost []faults.Finding) {
	var holders []string
	claim := func(p Peer, port corev1.ServicePort) {
		i := slices.IndexFunc(ports, func(have corev1.ServicePort) bool {
			return have.Name == port.Name || have.Port == port.Port && cmp.Or(have.Protocol, corev1.ProtocolTCP) == cmp.Or(port.Protocol, corev1.ProtocolTCP)
		})
		switch {
		case i < 0:
			ports, holders = append(ports, port), append(holders, p.Meta.Name)
		case p.Base == b && (ports[i].Name != port.Name || ports[i].Port != port.Port):
			lost = append(lost, faults.Remark("spec.portName", "port %q (%d) is not in Service %q, where %s %q has port %q (%d): use the same spec.portName, or a Service of its own in spec.serviceName",
				port.Name, port.Port, b.Kind.Service, b.Kind.Row.Kind, holders[i], ports[i].Name, ports[i].Port))
		}
	}
	most := 0
	for _, u := range users {
		most = max(most, len(u.Ports))
	}
	for i := range most {
		for _, u := range users {
			if i < len(u.Ports) {
				claim(u, u.Ports[i])
			}
		}
	}
	return ports, lost
}

// CheckService returns an error if the Service of spec.serviceName cannot govern pods with these labels.
func CheckService(svc *corev1.Service, pods map[string]string) error {
	own := labels.Set(pods)
	// A Service without a selector matches all pods.
	if labels.SelectorFromSet(svc.Spec.Selector).Matches(own) {
		return nil
	}
	return faults.At("spec.serviceName", fmt.Errorf("selector %q of service %s/%s does not match the pods' labels %q",
		labels.Set(svc.Spec.Selector).String(), svc.Namespace, svc.Name, own.String()))
}

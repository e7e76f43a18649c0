package workload

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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
	SharedService(own []corev1.ServicePort, users *ServiceUsers) (svc *corev1.Service, lost []faults.Finding)
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

// ServiceUsers are the workloads of a kind in a namespace that use its shared Service, the oldest first. It is safe for
// concurrent use.
type ServiceUsers struct {
	all []Peer

	once    sync.Once // guards the following
	service *corev1.Service
	holders []string // of each of its ports, the name of the workload
}

// NewServiceUsers returns those of the workloads that use the Service.
func NewServiceUsers(peers []Peer) *ServiceUsers {
	out := &ServiceUsers{}
	for _, p := range peers {
		if len(p.Ports) > 0 {
			out.all = append(out.all, p)
		}
	}
	slices.SortFunc(out.all, byAge)
	return out
}

func byAge(x, y Peer) int {
	return cmp.Or(x.Meta.CreationTimestamp.Compare(y.Meta.CreationTimestamp.Time), cmp.Compare(x.Meta.Name, y.Meta.Name))
}

// SharedService returns the headless Service that gives pods their names. All workloads
// of the kind in a namespace share it, and it selects the pods of all of them. Its ports
// are the union, independent of the managing operator and of b. lost describes the ports
// of this workload, own, that are missing in it.
//
// Plain owner references name the workloads of this operator. They must be merged with
// the existing ones. The Service is the same object for all users, and must not be modified.
func (b *Base) SharedService(own []corev1.ServicePort, users *ServiceUsers) (svc *corev1.Service, lost []faults.Finding) {
	svc, holders := b.unite(Peer{Base: b, Ports: own}, users)
	for _, port := range own {
		i := collision(svc.Spec.Ports, port)
		if have := svc.Spec.Ports[i]; have.Name != port.Name || have.Port != port.Port {
			lost = append(lost, faults.Remark("spec.portName", "port %q (%d) is not in Service %q, where %s %q has port %q (%d): use the same spec.portName, or a Service of its own in spec.serviceName",
				port.Name, port.Port, b.Kind.Service, b.Kind.Row.Kind, holders[i], have.Name, have.Port))
		}
	}
	return svc, lost
}

// unite returns the Service of the users and of one of them as it is now, and the names of the workloads that hold its
// ports. If they have that version of it, the Service is built once.
func (b *Base) unite(own Peer, users *ServiceUsers) (*corev1.Service, []string) {
	if users == nil {
		return b.serviceOf([]Peer{own})
	}
	at := slices.IndexFunc(users.all, func(u Peer) bool { return u.Meta.Name == b.Meta.Name })
	if at < 0 || !users.all[at].equal(own) {
		all := slices.DeleteFunc(slices.Clone(users.all), func(u Peer) bool { return u.Meta.Name == b.Meta.Name })
		all = append(all, own)
		slices.SortFunc(all, byAge)
		return b.serviceOf(all)
	}
	users.once.Do(func() { users.service, users.holders = b.serviceOf(users.all) })
	return users.service, users.holders
}

// equal reports whether two versions of a workload contribute the same to the Service.
func (p Peer) equal(own Peer) bool {
	return !p.Foreign && p.Meta.DeletionTimestamp == nil && p.Meta.UID == own.Meta.UID && p.Meta.CreationTimestamp.Equal(&own.Meta.CreationTimestamp) &&
		slices.EqualFunc(p.Ports, own.Ports, func(a, b corev1.ServicePort) bool { return equality.Semantic.DeepEqual(a, b) })
}

// serviceOf returns the Service of users, and the names of the workloads that hold its ports.
func (b *Base) serviceOf(users []Peer) (svc *corev1.Service, holders []string) {
	meta := b.ObjectMeta(b.Kind.Service)
	meta.Labels = Overlay(managedBy, map[string]string{b.Kind.OperatedLabel: "true"}, b.Config.Labels)
	meta.OwnerReferences = nil
	for _, u := range users {
		if u.Base == b || !u.Foreign && u.Meta.DeletionTimestamp == nil {
			meta.OwnerReferences = append(meta.OwnerReferences, u.PlainReference())
		}
	}
	ports, holders := unitePorts(users)
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Ports:     ports,
			Selector:  map[string]string{wellknown.LabelAppName: b.Kind.AppName},

			PublishNotReadyAddresses: b.Kind.NotReadyAddresses,
		},
	}, holders
}

// unitePorts returns the ports of all workloads, web ports first, and the names of the workloads that hold them. Names
// are unique in a Service, and so are port numbers of a protocol. In a collision, the port of the older workload is
// kept.
func unitePorts(users []Peer) (ports []corev1.ServicePort, holders []string) {
	most := 0
	for _, u := range users {
		most = max(most, len(u.Ports))
	}
	for i := range most {
		for _, u := range users {
			if i < len(u.Ports) && collision(ports, u.Ports[i]) < 0 {
				ports, holders = append(ports, u.Ports[i]), append(holders, u.Meta.Name)
			}
		}
	}
	return ports, holders
}

// collision returns the index of the first port that has the name of another one, or its number and protocol; -1 if there is none.
func collision(ports []corev1.ServicePort, other corev1.ServicePort) int {
	return slices.IndexFunc(ports, func(have corev1.ServicePort) bool {
		return have.Name == other.Name || have.Port == other.Port && cmp.Or(have.Protocol, corev1.ProtocolTCP) == cmp.Or(other.Protocol, corev1.ProtocolTCP)
	})
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

package workload

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Peer is a workload of the same kind in the same namespace.
type Peer struct {
	*Owner
	Foreign bool // another operator is responsible for it
}

// GoverningService is the headless Service that gives pods their names. All
// workloads of the kind in a namespace share it, and it selects the pods of all: its
// ports are the union over all, whoever manages them and whoever asks. lost says
// which ports of this workload are not among them.
//
// Plain owner references name the workloads of this operator; they are to be merged
// with those that are there.
func (o *Owner) GoverningService(peers ...Peer) (svc *corev1.Service, lost []string) {
	users := []Peer{{Owner: o}}
	for _, p := range peers {
		if p.meta.Name != o.meta.Name && p.UsesGoverningService() {
			users = append(users, p)
		}
	}
	slices.SortFunc(users, func(a, b Peer) int {
		return cmp.Or(a.meta.CreationTimestamp.Compare(b.meta.CreationTimestamp.Time), cmp.Compare(a.meta.Name, b.meta.Name))
	})
	meta := o.objectMeta(o.kind.service)
	meta.Labels = overlay(managedBy, map[string]string{LabelOperated: "true"}, o.cfg.Labels)
	meta.OwnerReferences = nil
	for _, u := range users {
		if u.Owner == o || !u.Foreign && u.meta.DeletionTimestamp == nil {
			meta.OwnerReferences = append(meta.OwnerReferences, u.plainReference())
		}
	}
	ports, lost := o.unitePorts(users)
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone,
			Ports:     ports,
			Selector:  map[string]string{LabelAppName: o.kind.appName},
		},
	}, lost
}

// UsesGoverningService reports whether the workload's pods need the Service that is
// shared.
func (o *Owner) UsesGoverningService() bool { return !o.CustomService() && !o.daemonSet }

// ServicePorts are the ports that a workload needs of the shared Service; none when
// it does not use it.
func (o *Owner) ServicePorts() []corev1.ServicePort {
	if !o.UsesGoverningService() {
		return nil
	}
	out := []corev1.ServicePort{{Name: o.portName(), Port: webPort, TargetPort: intstr.FromString(o.portName())}}
	if o.thanos() != nil {
		out = append(out, corev1.ServicePort{
			Name: thanosGRPCPortName, Port: thanosGRPCPort, TargetPort: intstr.FromString(thanosGRPCPortName),
		})
	}
	return out
}

// unitePorts returns the ports of all, those for the web first. Names and numbers
// occur once in a Service: of two that collide, the older workload's stays.
func (o *Owner) unitePorts(users []Peer) (ports []corev1.ServicePort, lost []string) {
	var holders []string
	claim := func(p Peer, port corev1.ServicePort) {
		i := slices.IndexFunc(ports, func(have corev1.ServicePort) bool { return have.Name == port.Name || have.Port == port.Port })
		switch {
		case i < 0:
			ports, holders = append(ports, port), append(holders, p.meta.Name)
		case p.Owner == o && (ports[i].Name != port.Name || ports[i].Port != port.Port):
			lost = append(lost, fmt.Sprintf("port %q (%d) is not in Service %q, where %s %q has port %q (%d): use the same spec.portName, or a Service of its own in spec.serviceName",
				port.Name, port.Port, o.kind.service, o.kind.name, holders[i], ports[i].Name, ports[i].Port))
		}
	}
	for i := range 2 {
		for _, u := range users {
			if own := u.ServicePorts(); i < len(own) {
				claim(u, own[i])
			}
		}
	}
	return ports, lost
}

// CheckService says whether a Service named by spec.serviceName can govern the
// pods of all shards.
func (o *Owner) CheckService(svc *corev1.Service) error {
	own := labels.Set(o.SelectorLabels())
	// A Service without a selector matches everything.
	if labels.SelectorFromSet(svc.Spec.Selector).Matches(own) {
		return nil
	}
	return fmt.Errorf("spec.serviceName: selector %q of service %s/%s does not match the pods' labels %q",
		labels.Set(svc.Spec.Selector).String(), svc.Namespace, svc.Name, own.String())
}

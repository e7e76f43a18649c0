package apply

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Service creates or updates a Service that owners share ([Writer.UsesService]):
//
//	a live owner reference names | it      | live ports that are not wanted
//	-----------------------------|---------|-------------------------------
//	an owner that uses it        | remains | are removed
//	an owner that does not       | goes    | are removed
//	an unknown owner             | remains | remain: it may use them
//
// An unknown owner belongs to another operator or was just deleted; in the latter case
// the garbage collector removes the reference.
func (w *Writer) Service(ctx context.Context, want *corev1.Service) (Change, error) {
	return w.services.upsert(ctx, want)
}

func (w *Writer) mergeService(want, live *corev1.Service) {
	want.Spec.IPFamilies = live.Spec.IPFamilies
	want.Spec.IPFamilyPolicy = live.Spec.IPFamilyPolicy
	if live.Spec.ClusterIP != "" { // immutable, and an ExternalName has none
		want.Spec.ClusterIP = live.Spec.ClusterIP
		want.Spec.ClusterIPs = live.Spec.ClusterIPs
	}
	stay := make([]metav1.OwnerReference, 0, len(live.OwnerReferences))
	stranger := false
	for _, ref := range live.OwnerReferences {
		uses, known := w.UsesService(live.Namespace, ref)
		if !known || uses {
			stay = append(stay, ref)
		}
		stranger = stranger || !known && sameKind(ref, want.OwnerReferences)
	}
	want.OwnerReferences = joinOwners(stay, want.OwnerReferences)
	if stranger {
		want.Spec.Ports = joinPorts(live.Spec.Ports, want.Spec.Ports)
	}
	mergeMeta(want, live)
}

func sameKind(ref metav1.OwnerReference, others []metav1.OwnerReference) bool {
	return slices.ContainsFunc(others, func(o metav1.OwnerReference) bool { return o.Kind == ref.Kind && o.APIVersion == ref.APIVersion })
}

// joinPorts returns the live ports, updated to the wanted ones, and the wanted ones that collide with none.
func joinPorts(live, want []corev1.ServicePort) []corev1.ServicePort {
	out := slices.Clone(live)
	for _, p := range want {
		i := slices.IndexFunc(out, func(have corev1.ServicePort) bool { return have.Name == p.Name || have.Port == p.Port })
		switch {
		case i < 0:
			out = append(out, p)
		case out[i].Name == p.Name && out[i].Port == p.Port:
			out[i] = p
		}
	}
	return out
}

// sameService compares the fields that we set and those that affect routing. The API
// server defaults the others.
func (w *Writer) sameService(want, live *corev1.Service) bool {
	next := new(*want) // merging replaces what it changes
	next.Spec.Ports = slices.Clone(want.Spec.Ports)
	w.mergeService(next, live)
	if next.Spec.Type == "" {
		next.Spec.Type = corev1.ServiceTypeClusterIP
	}
	if next.Spec.SessionAffinity == "" {
		next.Spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	for i := range next.Spec.Ports {
		if next.Spec.Ports[i].Protocol == "" {
			next.Spec.Ports[i].Protocol = corev1.ProtocolTCP
		}
	}
	return sameMeta(next, live) &&
		sameMap(next.Spec.Selector, live.Spec.Selector) &&
		next.Spec.Type == live.Spec.Type &&
		next.Spec.SessionAffinity == live.Spec.SessionAffinity &&
		next.Spec.PublishNotReadyAddresses == live.Spec.PublishNotReadyAddresses &&
		equality.Semantic.DeepEqual(next.Spec.ExternalIPs, live.Spec.ExternalIPs) &&
		equality.Semantic.DeepEqual(next.Spec.Ports, live.Spec.Ports)
}

// Settled remembers the last live object that was as wanted. The zero value is ready to use, by one kind of objects in
// one namespace. It is safe for concurrent use.
type Settled[T comparable] struct {
	mu         sync.Mutex
	want, live T
}

// same returns the result of compare, which is called again when either object has another version.
func (s *Settled[T]) same(want, live T, compare func(want, live T) bool) bool {
	s.mu.Lock()
	settled := s.want == want && s.live == live
	s.mu.Unlock()
	if settled {
		return true
	}
	if !compare(want, live) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want, s.live = want, live
	return true
}

// serviceOnce returns the kind of a Service that is compared once while it and the wanted one are the same objects.
func (w *Writer) serviceOnce(settled *Settled[*corev1.Service]) *kind[*corev1.Service] {
	out := w.services
	out.same = func(want, live *corev1.Service) bool { return settled.same(want, live, w.sameService) }
	return &out
}

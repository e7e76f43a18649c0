package kubelet

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// maxEndpoints is how many endpoints one EndpointSlice has at most. The API server
// takes 1000; a smaller one is a smaller write.
const maxEndpoints = 512

// sliceSelector finds the EndpointSlices of the Service that are ours: those that
// Kubernetes mirrors from Endpoints have another manager.
func (o Options) sliceSelector() string {
	return discoveryv1.LabelServiceName + "=" + o.Service.Name + "," + discoveryv1.LabelManagedBy + "=" + wellknown.ManagedBy
}

// sheet is an EndpointSlice while addresses are distributed.
type sheet struct {
	live    *discoveryv1.EndpointSlice // nil: it is new
	family  discoveryv1.AddressType
	entries []entry
	filled  int // entries with an address
}

// entry is a place in a sheet: an address, or what was there for a node before.
type entry struct {
	address *address // nil: free
	node    string   // of an address that is gone
}

// unplaced are the addresses that have no place yet.
type unplaced struct {
	all    []address
	placed []bool
	byIP   map[string]int
	byNode map[string][]int
}

func newUnplaced(all []address) *unplaced {
	u := &unplaced{all: all, placed: make([]bool, len(all)), byIP: make(map[string]int, len(all)), byNode: make(map[string][]int, len(all))}
	places := make([]int, len(all)) // one allocation for the lists of all nodes with a single address
	for i, a := range all {
		u.byIP[a.ip] = i
		if have, ok := u.byNode[a.node.Name]; ok {
			u.byNode[a.node.Name] = append(have, i)
			continue
		}
		places[i] = i
		u.byNode[a.node.Name] = places[i : i+1 : i+1]
	}
	return u
}

// take returns the first unplaced address out of some.
func (u *unplaced) take(family discoveryv1.AddressType, from ...int) *address {
	for _, i := range from {
		if !u.placed[i] && u.all[i].family == family {
			u.placed[i] = true
			return &u.all[i]
		}
	}
	return nil
}

// slices distributes the addresses over EndpointSlices of the Service, and returns those
// to write, and those to delete. A new one has no name. Addresses stay where they are;
// that of a node whose address changes takes the place of the former one, and
// further ones go to the first slice with room.
func (o Options) slices(owner *corev1.Service, all []address, live []*discoveryv1.EndpointSlice) (put, gone []*discoveryv1.EndpointSlice) {
	sheets := o.distribute(all, live)
	want := o.blankSlice(owner)
	for _, s := range sheets {
		switch {
		case s.filled == 0:
			gone = append(gone, s.live)
		case s.live == nil || !s.same(want):
			put = append(put, s.write(want))
		}
	}
	return put, gone
}

func (o Options) distribute(all []address, live []*discoveryv1.EndpointSlice) []*sheet {
	rest := newUnplaced(all)
	var sheets []*sheet
	for _, s := range slices.SortedFunc(slices.Values(live), func(a, b *discoveryv1.EndpointSlice) int { return strings.Compare(a.Name, b.Name) }) {
		if s.DeletionTimestamp == nil {
			sheets = append(sheets, keep(s, rest))
		}
	}
	for _, s := range sheets {
		s.refill(rest)
	}
	open := map[discoveryv1.AddressType]int{} // sheets before it are full or of another family
	for i := range all {
		if rest.placed[i] {
			continue
		}
		family := all[i].family
		at := open[family]
		for at < len(sheets) && (sheets[at].family != family || sheets[at].filled >= maxEndpoints) {
			at++
		}
		if open[family] = at; at == len(sheets) {
			sheets = append(sheets, &sheet{family: family})
		}
		sheets[at].add(&all[i])
	}
	return sheets
}

// keep makes a sheet of a live slice with the addresses that still exist.
func keep(live *discoveryv1.EndpointSlice, rest *unplaced) *sheet {
	s := &sheet{live: live, family: live.AddressType, entries: make([]entry, 0, len(live.Endpoints)+1)}
	for _, e := range live.Endpoints {
		was := entry{}
		if e.NodeName != nil {
			was.node = *e.NodeName
		}
		if len(e.Addresses) == 1 && s.filled < maxEndpoints {
			if i, ok := rest.byIP[canonical(e.Addresses[0])]; ok {
				was.address = rest.take(s.family, i)
			}
		}
		if was.address != nil {
			s.filled++
		}
		s.entries = append(s.entries, was)
	}
	return s
}

func canonical(text string) string {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	return ip.Unmap().String()
}

// refill gives the place of an address that is gone to another one of the same node, so
// that a node that changes its address changes one slice.
func (s *sheet) refill(rest *unplaced) {
	for i, e := range s.entries {
		if e.address != nil || s.filled >= maxEndpoints {
			continue
		}
		if a := rest.take(s.family, rest.byNode[e.node]...); a != nil {
			s.entries[i].address = a
			s.filled++
		}
	}
	s.entries = slices.DeleteFunc(s.entries, func(e entry) bool { return e.address == nil })
}

func (s *sheet) add(a *address) {
	s.entries = append(s.entries, entry{address: a})
	s.filled++
}

// blankSlice is an EndpointSlice of the Service without endpoints.
func (o Options) blankSlice(owner *corev1.Service) *discoveryv1.EndpointSlice {
	yes, tcp := true, corev1.ProtocolTCP
	out := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Service.Namespace, GenerateName: o.Service.Name + "-",
		Labels: overlay(o.labels(), map[string]string{
			discoveryv1.LabelServiceName: o.Service.Name, discoveryv1.LabelManagedBy: wellknown.ManagedBy,
		}),
		Annotations: o.Annotations,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Service", Name: owner.Name, UID: owner.UID, Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}}
	for _, p := range o.ports() {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &p.name, Port: &p.number, Protocol: &tcp})
	}
	return out
}

// same reports whether the live slice is as the sheet says; want is a blank one.
func (s *sheet) same(want *discoveryv1.EndpointSlice) bool {
	if len(s.entries) != len(s.live.Endpoints) {
		return false
	}
	for i, e := range s.entries {
		if !e.address.is(&s.live.Endpoints[i]) {
			return false
		}
	}
	return equality.Semantic.DeepEqual(overlay(s.live.Labels, want.Labels), s.live.Labels) &&
		equality.Semantic.DeepEqual(overlay(s.live.Annotations, want.Annotations), s.live.Annotations) &&
		equality.Semantic.DeepEqual(want.OwnerReferences, s.live.OwnerReferences) &&
		equality.Semantic.DeepEqual(want.Ports, s.live.Ports)
}

// is reports whether an endpoint is what write makes of the address.
func (a *address) is(e *discoveryv1.Endpoint) bool {
	ready, ref := e.Conditions.Ready, e.TargetRef
	return len(e.Addresses) == 1 && e.Addresses[0] == a.ip && ready != nil && *ready &&
		e.NodeName != nil && *e.NodeName == a.node.Name && ref != nil && *ref == *nodeRef(a.node)
}

// write returns the slice as the sheet says.
func (s *sheet) write(want *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	out := want.DeepCopy()
	out.AddressType = s.family
	if s.live != nil {
		out.ObjectMeta = *s.live.ObjectMeta.DeepCopy()
		out.Labels, out.Annotations = overlay(out.Labels, want.Labels), overlay(out.Annotations, want.Annotations)
		out.OwnerReferences = want.OwnerReferences
	}
	ready := true
	out.Endpoints = make([]discoveryv1.Endpoint, 0, len(s.entries))
	for _, e := range s.entries {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{e.address.ip}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			NodeName: &e.address.node.Name, TargetRef: nodeRef(e.address.node),
		})
	}
	return out
}

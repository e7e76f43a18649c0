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

// maxEndpoints is the maximum number of endpoints per EndpointSlice. The API server
// accepts 1000; smaller slices mean smaller writes.
const maxEndpoints = 512

// sliceSelector returns the label selector of our own EndpointSlices of the Service.
// Slices that Kubernetes mirrors from Endpoints have another manager.
func (o Options) sliceSelector() string {
	return discoveryv1.LabelServiceName + "=" + o.Service.Name + "," + discoveryv1.LabelManagedBy + "=" + wellknown.ManagedBy
}

// sheet is an EndpointSlice while addresses are distributed.
type sheet struct {
	live    *discoveryv1.EndpointSlice // nil for a new slice
	family  discoveryv1.AddressType
	entries []entry
	filled  int // number of entries with an address
}

// entry is an endpoint of a sheet: an address, or the place of an address that no longer
// exists.
type entry struct {
	address *address // nil if free
	node    string   // node of the former address
}

// unplaced holds the addresses that are not yet in a sheet.
type unplaced struct {
	all    []address
	placed []bool
	byIP   map[string]int
	byNode map[string][]int
}

func newUnplaced(all []address) *unplaced {
	u := &unplaced{all: all, placed: make([]bool, len(all)), byIP: make(map[string]int, len(all)), byNode: make(map[string][]int, len(all))}
	places := make([]int, len(all)) // one allocation for the lists of all nodes that have a single address
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

// take returns the first unplaced address among the indexes in from, or nil, and marks it
// as placed.
func (u *unplaced) take(family discoveryv1.AddressType, from ...int) *address {
	for _, i := range from {
		if !u.placed[i] && u.all[i].family == family {
			u.placed[i] = true
			return &u.all[i]
		}
	}
	return nil
}

// slices distributes the addresses over EndpointSlices of the Service, and returns the
// slices to write and to delete. New slices have no name. Addresses stay in their slice.
// If the address of a node changes, the new one replaces the old one in place, and
// additional addresses go to the first slice with room.
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
	open := map[discoveryv1.AddressType]int{} // index by family; all earlier sheets are full or of another family
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

// keep returns a sheet with the addresses of a live slice that still exist.
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

// refill replaces the former addresses of a node with its unplaced ones, so that a
// changed address changes one slice.
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

// blankSlice returns an EndpointSlice of the Service without endpoints.
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

// same reports whether the live slice matches the sheet. want is a blank slice.
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

// is reports whether the endpoint is the one that write creates for the address.
func (a *address) is(e *discoveryv1.Endpoint) bool {
	ready, ref := e.Conditions.Ready, e.TargetRef
	return len(e.Addresses) == 1 && e.Addresses[0] == a.ip && ready != nil && *ready &&
		e.NodeName != nil && *e.NodeName == a.node.Name && ref != nil && *ref == *nodeRef(a.node)
}

// write returns the slice of the sheet. want is a blank slice.
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

package kubelet

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// address is one IP under which a kubelet can be reached.
type address struct {
	ip     string
	family discoveryv1.AddressType
	node   *corev1.Node
	known  bool // somebody has heard of the node lately
}

// problem is why a node has no address, or why one of them is left out.
type problem struct {
	node string
	err  error
}

func (p problem) String() string { return fmt.Sprintf("node %s: %v", p.node, p.err) }

// addresses of nodes that come in order of their names. Every IP is there once: of
// several nodes with the same, a known one has it, and of those the first by name.
func (o Options) addresses(nodes iter.Seq[*corev1.Node]) (out []address, problems []problem) {
	for n := range nodes {
		of, err := o.preferred(n)
		if err != nil {
			problems = append(problems, problem{n.Name, err})
		}
		for _, text := range of {
			ip, err := reachable(text)
			if err != nil {
				problems = append(problems, problem{n.Name, err})
				continue
			}
			family := discoveryv1.AddressTypeIPv4
			if ip.Is6() {
				family = discoveryv1.AddressTypeIPv6
			}
			out = append(out, address{ip.String(), family, n, known(n)})
		}
	}
	return distinct(out), problems
}

// preferred are the addresses of the first type that the node has any of.
//
// Errors: it has none of either type.
func (o Options) preferred(n *corev1.Node) ([]string, error) {
	order := []corev1.NodeAddressType{corev1.NodeInternalIP, corev1.NodeExternalIP}
	if o.External {
		slices.Reverse(order)
	}
	var out []string
	for _, kind := range order {
		for _, a := range n.Status.Addresses {
			if a.Type == kind {
				out = append(out, a.Address)
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, fmt.Errorf("status.addresses has neither %s nor %s", order[0], order[1])
}

// reachable parses an IP. One IP that the API server does not take would make it refuse
// all of an object.
func reachable(text string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return ip, fmt.Errorf("status.addresses: %q is not an IP address", text)
	}
	ip = ip.Unmap()
	if ip.IsUnspecified() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() {
		return ip, fmt.Errorf("status.addresses: %q cannot be reached from other nodes", text)
	}
	return ip, nil
}

// known reports whether the cluster knows how a node is: its kubelet said so.
func known(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionUnknown
		}
	}
	return false
}

// distinct keeps one address for each IP, in order. A dead node whose IP another one
// got must not stand for it.
func distinct(all []address) []address {
	best := make(map[string]int, len(all))
	for i, a := range all {
		if have, ok := best[a.ip]; !ok || a.known && !all[have].known {
			best[a.ip] = i
		}
	}
	out := all[:0]
	for i, a := range all {
		if best[a.ip] == i {
			out = append(out, a)
		}
	}
	return out
}

// trim keeps of a node what its addresses are made of.
func trim(n *corev1.Node) *corev1.Node {
	out := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion}}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP || a.Type == corev1.NodeExternalIP {
			out.Status.Addresses = append(out.Status.Addresses, a)
		}
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return out
}

// sameAddresses reports whether two versions of a node lead to the same endpoints.
// Kubelets report every few minutes, and nearly always nothing new.
func sameAddresses(a, b *corev1.Node) bool {
	return a.UID == b.UID && known(a) == known(b) && slices.Equal(a.Status.Addresses, b.Status.Addresses)
}

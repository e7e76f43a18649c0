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

// address is an IP address of a kubelet.
type address struct {
	ip     string
	family discoveryv1.AddressType
	node   *corev1.Node
	known  bool // the node's Ready condition is not Unknown
}

// problem is the reason why a node or one of its addresses is skipped.
type problem struct {
	node string
	err  error
}

func (p problem) String() string { return fmt.Sprintf("node %s: %v", p.node, p.err) }

// addresses returns the addresses of nodes, which must be sorted by name. Each IP occurs
// once: if several nodes have the same IP, known nodes take precedence, then the first
// one by name.
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

// preferred returns the addresses of the first type that the node has.
//
// Errors: the node has no internal and no external address.
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

// reachable parses an IP address. A single invalid IP would make the API server reject
// the whole object.
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

// known reports whether the status of the Ready condition is True or False, so the
// kubelet has reported recently.
func known(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionUnknown
		}
	}
	return false
}

// distinct keeps one address per IP and preserves the order. A dead node must not shadow
// a node that reuses its IP.
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

// trim returns a node with only the fields that addresses depend on.
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

// sameAddresses reports whether two versions of a node result in the same endpoints.
// Kubelets update their node every few minutes, almost always without a relevant change.
func sameAddresses(a, b *corev1.Node) bool {
	return a.UID == b.UID && known(a) == known(b) && slices.Equal(a.Status.Addresses, b.Status.Addresses)
}

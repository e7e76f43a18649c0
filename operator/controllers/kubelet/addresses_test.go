package kubelet

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// node returns a node with this name and these addresses: "a internal=10.0.0.1
// ready=Unknown".
func node(text string) *corev1.Node {
	words := strings.Fields(text)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[0], UID: types.UID("uid-" + words[0])}}
	status := corev1.ConditionTrue
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		kind := map[string]corev1.NodeAddressType{
			"internal": corev1.NodeInternalIP, "external": corev1.NodeExternalIP, "host": corev1.NodeHostName,
		}[key]
		if key == "ready" {
			status = corev1.ConditionStatus(value)
			continue
		}
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: kind, Address: value})
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionUnknown}, {Type: corev1.NodeReady, Status: status}}
	return n
}

func nodes(texts ...string) (out []*corev1.Node) {
	for _, text := range texts {
		out = append(out, node(text))
	}
	return out
}

func TestAddresses(t *testing.T) {
	for name, tc := range map[string]struct {
		external       bool
		nodes          []*corev1.Node
		want, problems string
	}{
		"the internal one": {false, nodes("a host=a internal=10.0.0.1 external=1.0.0.1"), "a/10.0.0.1", ""},
		"the external one": {true, nodes("a host=a internal=10.0.0.1 external=1.0.0.1"), "a/1.0.0.1", ""},
		"without internal": {false, nodes("a external=1.0.0.1"), "a/1.0.0.1", ""},
		"without external": {true, nodes("a internal=10.0.0.1"), "a/10.0.0.1", ""},
		"only a host name": {false, nodes("a host=a", "b internal=10.0.0.2"), "b/10.0.0.2",
			"node a: status.addresses has neither InternalIP nor ExternalIP"},
		"two families": {false, nodes("a internal=10.0.0.1 internal=fd00::1"), "a/10.0.0.1 a/fd00::1", ""},
		"canonical":    {false, nodes("a internal=FD00::0:1", "b internal=::ffff:10.0.0.2"), "a/fd00::1 b/10.0.0.2", ""},
		"no IP": {false, nodes("a internal=10.0.0.256 internal=10.0.0.1", "b internal=fe80::1%eth0"), "a/10.0.0.1",
			`node a: status.addresses: "10.0.0.256" is not an IP address; node b: status.addresses: "fe80::1%eth0" is not an IP address`},
		"one that the API server refuses": {false, nodes("a internal=127.0.0.1", "b internal=169.254.1.1", "c internal=10.0.0.3"), "c/10.0.0.3",
			`node a: status.addresses: "127.0.0.1" cannot be reached from other nodes; node b: status.addresses: "169.254.1.1" cannot be reached from other nodes`},
		"not ready stays":                 {false, nodes("a internal=10.0.0.1 ready=False", "b internal=10.0.0.2 ready=Unknown"), "a/10.0.0.1 b/10.0.0.2", ""},
		"a dead node with a recycled IP":  {false, nodes("a internal=10.0.0.1 ready=Unknown", "b internal=10.0.0.1"), "b/10.0.0.1", ""},
		"the same, later in the order":    {false, nodes("a internal=10.0.0.1 ready=False", "b internal=10.0.0.1 ready=Unknown"), "a/10.0.0.1", ""},
		"two known nodes with one IP":     {false, nodes("a internal=10.0.0.1", "b internal=10.0.0.1"), "a/10.0.0.1", ""},
		"two dead nodes with one IP":      {false, nodes("a internal=10.0.0.1 ready=Unknown", "b internal=10.0.0.1 ready=Unknown"), "a/10.0.0.1", ""},
		"a node that says its IP twice":   {false, nodes("a internal=10.0.0.1 internal=10.0.0.1"), "a/10.0.0.1", ""},
		"a dead node keeps its other IPs": {false, nodes("a internal=10.0.0.1 internal=10.0.0.9 ready=Unknown", "b internal=10.0.0.1"), "a/10.0.0.9 b/10.0.0.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var trimmed []*corev1.Node
			for _, n := range tc.nodes {
				trimmed = append(trimmed, trim(n))
			}
			all, problems := Options{External: tc.external}.addresses(slices.Values(trimmed))
			var got, wrong []string
			for _, a := range all {
				got = append(got, a.node.Name+"/"+a.ip)
				if strings.Contains(a.ip, ":") != (a.family == "IPv6") {
					t.Errorf("%s is %s", a.ip, a.family)
				}
			}
			for _, p := range problems {
				wrong = append(wrong, p.String())
			}
			if strings.Join(got, " ") != tc.want || strings.Join(wrong, "; ") != tc.problems {
				t.Errorf("got %q, problems %q", got, wrong)
			}
		})
	}
}

// Periodic status updates of a kubelet are ignored.
func TestSameAddresses(t *testing.T) {
	before := node("a internal=10.0.0.1")
	for text, want := range map[string]bool{
		"a internal=10.0.0.1":                      true,
		"a internal=10.0.0.1 ready=False":          true, // it keeps its endpoint
		"a host=other internal=10.0.0.1":           true,
		"a internal=10.0.0.1 ready=Unknown":        false,
		"a internal=10.0.0.2":                      false,
		"a internal=10.0.0.1 external=1.0.0.1":     false,
		"a internal=10.0.0.1 internal=fd00::1":     false,
		"a external=10.0.0.1":                      false,
		"another-uid internal=10.0.0.1 host=again": false,
	} {
		if got := sameAddresses(trim(before), trim(node(text))); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

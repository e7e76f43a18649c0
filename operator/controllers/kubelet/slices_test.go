package kubelet

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	testOptions = Options{
		Service: types.NamespacedName{Namespace: "kube-system", Name: "kubelet"}, HTTPMetrics: true, Endpoints: true, Slices: true,
	}
	owner = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubelet", UID: "uid-service"}}
)

// written simulates the slices stored by the API server.
type written struct {
	live  []*discoveryv1.EndpointSlice
	count int
}

// write plans and stores the slices, and returns the names of those it wrote and deleted.
func (w *written) write(o Options, all []address) (names []string) {
	put, gone := o.slices(owner, all, w.live)
	for _, s := range slices.Concat(put, gone) {
		w.live = slices.DeleteFunc(w.live, func(have *discoveryv1.EndpointSlice) bool { return s.Name != "" && have.Name == s.Name })
	}
	for _, s := range put {
		if s.Name == "" {
			w.count++
			s.Name, s.ResourceVersion = fmt.Sprintf("%s%03d", s.GenerateName, w.count), "1"
		}
		names = append(names, s.Name)
		w.live = append(w.live, s)
	}
	for _, s := range gone {
		names = append(names, "-"+s.Name)
	}
	return names
}

// content returns "name family: node/ip ..." of each slice, sorted by name.
func (w *written) content() string {
	var out []string
	for _, s := range slices.SortedFunc(slices.Values(w.live), func(a, b *discoveryv1.EndpointSlice) int { return strings.Compare(a.Name, b.Name) }) {
		text := fmt.Sprintf("%s %s:", s.Name, s.AddressType)
		for _, e := range s.Endpoints {
			text += " " + *e.NodeName + "/" + e.Addresses[0]
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func of(nodes ...*corev1.Node) []address {
	all, _ := testOptions.addresses(slices.Values(nodes))
	return all
}

func TestSlices(t *testing.T) {
	w := &written{}
	for _, step := range []struct{ what, nodes, writes, content string }{
		{"none", "", "", ""},
		{"two families", "a internal=10.0.0.1 internal=fd00::1, b internal=10.0.0.2", "kubelet-001 kubelet-002",
			"kubelet-001 IPv4: a/10.0.0.1 b/10.0.0.2\nkubelet-002 IPv6: a/fd00::1"},
		{"nothing new", "a internal=10.0.0.1 internal=fd00::1, b internal=10.0.0.2", "",
			"kubelet-001 IPv4: a/10.0.0.1 b/10.0.0.2\nkubelet-002 IPv6: a/fd00::1"},
		{"a new node", "0 internal=10.0.0.9, a internal=10.0.0.1 internal=fd00::1, b internal=10.0.0.2", "kubelet-001",
			"kubelet-001 IPv4: a/10.0.0.1 b/10.0.0.2 0/10.0.0.9\nkubelet-002 IPv6: a/fd00::1"},
		{"a changed address", "0 internal=10.0.0.9, a internal=10.0.0.7 internal=fd00::1, b internal=10.0.0.2", "kubelet-001",
			"kubelet-001 IPv4: a/10.0.0.7 b/10.0.0.2 0/10.0.0.9\nkubelet-002 IPv6: a/fd00::1"},
		{"an address goes to another node", "0 internal=10.0.0.9, a internal=10.0.0.7 internal=fd00::1, c internal=10.0.0.2", "kubelet-001",
			"kubelet-001 IPv4: a/10.0.0.7 c/10.0.0.2 0/10.0.0.9\nkubelet-002 IPv6: a/fd00::1"},
		{"the last of a family", "0 internal=10.0.0.9, a internal=10.0.0.7", "kubelet-001 -kubelet-002",
			"kubelet-001 IPv4: a/10.0.0.7 0/10.0.0.9"},
		{"the last", "", "-kubelet-001", ""},
	} {
		var list []*corev1.Node
		for text := range strings.SplitSeq(step.nodes, ", ") {
			if text != "" {
				list = append(list, node(text))
			}
		}
		if got := strings.Join(w.write(testOptions, of(list...)), " "); got != step.writes {
			t.Errorf("%s: wrote %q, want %q", step.what, got, step.writes)
		}
		if got := w.content(); got != step.content {
			t.Errorf("%s: there is\n%s\nwant\n%s", step.what, got, step.content)
		}
	}
}

// A new slice has all fields that the API requires, and flags cannot override its labels.
func TestSliceObject(t *testing.T) {
	o := testOptions
	o.Labels = map[string]string{"team": "x", "k8s-app": "mine", discoveryv1.LabelManagedBy: "mine"}
	o.Annotations = map[string]string{"note": "y"}
	put, _ := o.slices(owner, of(node("a internal=10.0.0.1")), nil)
	if len(put) != 1 {
		t.Fatal(len(put))
	}
	s := put[0]
	labels := map[string]string{
		"k8s-app": "mine", "app.kubernetes.io/name": "kubelet", "app.kubernetes.io/managed-by": "prometheus-operator", "team": "x",
		"kubernetes.io/service-name": "kubelet", "endpointslice.kubernetes.io/managed-by": "prometheus-operator",
	}
	if !maps.Equal(s.Labels, labels) || s.Annotations["note"] != "y" || s.GenerateName != "kubelet-" || s.Namespace != "kube-system" {
		t.Errorf("metadata %+v", s.ObjectMeta)
	}
	ref := s.OwnerReferences[0]
	if len(s.OwnerReferences) != 1 || ref.APIVersion != "v1" || ref.Kind != "Service" || ref.Name != "kubelet" || ref.UID != "uid-service" ||
		!*ref.Controller || !*ref.BlockOwnerDeletion {
		t.Errorf("owner %+v", s.OwnerReferences)
	}
	var ports []string
	for _, p := range s.Ports {
		ports = append(ports, fmt.Sprint(*p.Name, *p.Port, *p.Protocol))
	}
	if got := strings.Join(ports, " "); got != "https-metrics10250TCP cadvisor4194TCP http-metrics10255TCP" {
		t.Errorf("ports %s", got)
	}
	e := s.Endpoints[0]
	if !*e.Conditions.Ready || *e.NodeName != "a" || *e.TargetRef != (corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "a", UID: "uid-a"}) {
		t.Errorf("endpoint %+v", e)
	}
}

// Foreign edits of a slice, and results of former flags, are reverted, but additions are
// kept.
func TestLiveSlices(t *testing.T) {
	all := of(node("a internal=10.0.0.1"), node("b internal=10.0.0.2"))
	for name, tc := range map[string]struct {
		edit func(*discoveryv1.EndpointSlice)
		want bool
	}{
		"untouched":         {func(*discoveryv1.EndpointSlice) {}, false},
		"a label of others": {func(s *discoveryv1.EndpointSlice) { s.Labels["more"] = "x" }, false},
		"a label is gone":   {func(s *discoveryv1.EndpointSlice) { delete(s.Labels, "k8s-app") }, true},
		"former ports":      {func(s *discoveryv1.EndpointSlice) { s.Ports = s.Ports[:2] }, true},
		"another owner":     {func(s *discoveryv1.EndpointSlice) { s.OwnerReferences[0].UID = "old" }, true},
		"a foreign address": {func(s *discoveryv1.EndpointSlice) {
			s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.9.9.9"}})
		}, true},
		"two addresses in one": {func(s *discoveryv1.EndpointSlice) {
			s.Endpoints[0].Addresses = append(s.Endpoints[0].Addresses, "10.9.9.9")
		}, true},
		"not ready":             {func(s *discoveryv1.EndpointSlice) { *s.Endpoints[0].Conditions.Ready = false }, true},
		"a node made again":     {func(s *discoveryv1.EndpointSlice) { s.Endpoints[1].TargetRef.UID = "old" }, true},
		"an endpoint is gone":   {func(s *discoveryv1.EndpointSlice) { s.Endpoints = s.Endpoints[1:] }, true},
		"an endpoint twice":     {func(s *discoveryv1.EndpointSlice) { s.Endpoints = append(s.Endpoints, s.Endpoints[0]) }, true},
		"without node and more": {func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].NodeName, s.Endpoints[0].TargetRef = nil, nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &written{}
			w.write(testOptions, all)
			w.live[0] = w.live[0].DeepCopy()
			tc.edit(w.live[0])
			more := w.live[0].Labels["more"]
			if wrote := len(w.write(testOptions, all)) > 0; wrote != tc.want {
				t.Errorf("wrote: %t", wrote)
			}
			if len(w.live) != 1 || w.live[0].Labels["more"] != more || strings.Count(w.content(), "/") != 2 {
				t.Errorf("there is\n%s", w.content())
			}
			if again := w.write(testOptions, all); len(again) > 0 {
				t.Errorf("a second sync writes %v", again)
			}
		})
	}
}

// A slice that is being deleted is ignored, and one with an unsupported address type is
// deleted.
func TestSlicesOfOthers(t *testing.T) {
	w := &written{}
	all := of(node("a internal=10.0.0.1"))
	w.write(testOptions, all)
	now := metav1.Now()
	w.live[0].DeletionTimestamp = &now
	w.live = append(w.live, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "names"}, AddressType: discoveryv1.AddressTypeFQDN,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"a.example.org"}}},
	})
	if got := w.write(testOptions, all); !slices.Equal(got, []string{"kubelet-002", "-names"}) {
		t.Errorf("wrote %v", got)
	}
}

// TestSliceProperties changes a cluster at random. After each step, every address is in
// exactly one slice of its family, no slice is too large or empty, a second sync is a
// no-op, and a node with one address that is added, deleted or changed touches one slice.
func TestSliceProperties(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		w, cluster, next := &written{}, map[string]*corev1.Node{}, 0
		fresh := func(name string, dual bool) {
			next++
			text := fmt.Sprintf("%s internal=10.%d.%d.%d", name, 1+next/62500, next/250%250, 1+next%250)
			if dual {
				text += fmt.Sprintf(" internal=fd00::%x", next)
			}
			cluster[name] = node(text)
		}
		sorted := func() (out []*corev1.Node) {
			for _, name := range slices.Sorted(maps.Keys(cluster)) {
				out = append(out, cluster[name])
			}
			return out
		}
		for i := range 500 + random.IntN(1200) {
			fresh(fmt.Sprintf("n%05d", i), i%7 == 0)
		}
		w.write(testOptions, of(sorted()...))
		for step := range 60 {
			names := slices.Sorted(maps.Keys(cluster))
			name := names[random.IntN(len(names))]
			touches := len(cluster[name].Status.Addresses)
			switch random.IntN(3) {
			case 0:
				delete(cluster, name)
			case 1:
				fresh(name, touches == 2)
			default:
				name, touches = fmt.Sprintf("m%05d", random.IntN(100000)), 1
				fresh(name, false)
			}
			all := of(sorted()...)
			if wrote := w.write(testOptions, all); len(wrote) > touches {
				t.Fatalf("seed %d, step %d: node %s with %d addresses touches %v", seed, step, name, touches, wrote)
			}
			checkSlices(t, w, all)
		}
	}
}

func checkSlices(t *testing.T, w *written, all []address) {
	t.Helper()
	places := map[string]int{}
	for _, s := range w.live {
		if len(s.Endpoints) == 0 || len(s.Endpoints) > maxEndpoints {
			t.Fatalf("slice %s has %d endpoints", s.Name, len(s.Endpoints))
		}
		for _, e := range s.Endpoints {
			places[string(s.AddressType)+*e.NodeName+e.Addresses[0]]++
		}
	}
	for _, a := range all {
		if n := places[string(a.family)+a.node.Name+a.ip]; n != 1 {
			t.Fatalf("%s of node %s is in %d slices", a.ip, a.node.Name, n)
		}
	}
	if len(places) != len(all) {
		t.Fatalf("%d places for %d addresses", len(places), len(all))
	}
	if again := w.write(testOptions, all); len(again) > 0 {
		t.Fatalf("a second sync writes %v", again)
	}
}

// Slices that exceed the limit are split.
func TestLargeSlices(t *testing.T) {
	all := of(many(maxEndpoints + 100)...)
	w := &written{}
	w.write(testOptions, all[:maxEndpoints])
	rest := &written{}
	rest.write(testOptions, all[maxEndpoints:])
	w.live[0].Endpoints = append(w.live[0].Endpoints, rest.live[0].Endpoints...)
	if got := w.write(testOptions, all); len(got) != 2 {
		t.Errorf("wrote %v", got)
	}
	checkSlices(t, w, all)
}

func many(count int) (out []*corev1.Node) {
	for i := range count {
		out = append(out, trim(node(fmt.Sprintf("node-%05d host=node internal=10.1.%d.%d", i, i/250, 1+i%250))))
	}
	return out
}

// BenchmarkChangedNode measures a change of one of 5,000 nodes, including the whole plan.
func BenchmarkChangedNode(b *testing.B) {
	list := many(5000)
	w := &written{}
	w.write(testOptions, of(list...))
	versions := []*corev1.Node{trim(node("node-02500 internal=10.9.0.1")), trim(node("node-02500 internal=10.9.0.2"))}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		list[2500] = versions[i%2]
		if wrote := w.write(testOptions, of(list...)); len(wrote) != 1 {
			b.Fatalf("wrote %v", wrote)
		}
	}
}

// BenchmarkUnchanged measures the periodic comparison with 5,000 nodes.
func BenchmarkUnchanged(b *testing.B) {
	list := many(5000)
	w := &written{}
	w.write(testOptions, of(list...))
	endpoints := testOptions.endpoints(of(list...), nil)
	b.ReportAllocs()
	for b.Loop() {
		all := of(list...)
		if wrote := w.write(testOptions, all); len(wrote) > 0 || testOptions.endpoints(all, endpoints) != nil {
			b.Fatalf("wrote %v", wrote)
		}
	}
}

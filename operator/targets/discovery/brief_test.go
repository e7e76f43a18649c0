//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// mixture is a cluster of random Services, with the Endpoints and EndpointSlices of each, and pods.
type mixture struct {
	*rand.Rand
	objects Objects
}

func (m *mixture) name(kind string) string { return fmt.Sprint(kind, m.IntN(6)) }
func (m *mixture) namespace() string       { return fmt.Sprint("ns", m.IntN(2)) }
func (m *mixture) port() int32             { return int32(80 + m.IntN(3)) }
func (m *mixture) half() bool              { return m.IntN(2) == 0 }

func (m *mixture) containers() (out []corev1.Container) {
	for i := range m.IntN(3) {
		c := corev1.Container{Name: fmt.Sprint("c", i), Image: "i"}
		for range m.IntN(3) {
			c.Ports = append(c.Ports, corev1.ContainerPort{Name: m.name("p"), ContainerPort: m.port()})
		}
		out = append(out, c)
	}
	return out
}

func (m *mixture) ref(namespace string) *corev1.ObjectReference {
	switch m.IntN(6) {
	case 0:
		return nil
	case 1:
		return &corev1.ObjectReference{Kind: "Node", Name: "n1"}
	case 2:
		namespace = m.namespace() // perhaps another one
	}
	return &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: m.name("pod")}
}

func (m *mixture) fill() {
	m.objects.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}}})
	for range 8 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace(), Name: m.name("pod"), Labels: map[string]string{"app": "a"}}}
		pod.Spec.NodeName, pod.Spec.Containers, pod.Spec.InitContainers = "n1", m.containers(), m.containers()
		if m.half() {
			pod.Status.PodIP = fmt.Sprint("10.0.0.", m.IntN(250))
		}
		m.objects.Add(pod)
	}
	for i := range 6 {
		meta := metav1.ObjectMeta{Namespace: m.namespace(), Name: fmt.Sprint("svc", i), Labels: map[string]string{"app": m.name("app")}}
		if m.IntN(5) > 0 {
			service := &corev1.Service{ObjectMeta: meta}
			if m.half() {
				service.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol}
			}
			m.objects.Add(service)
		}
		m.addSlice(meta)
		m.addEndpoints(meta)
	}
}

func (m *mixture) addSlice(meta metav1.ObjectMeta) {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: *meta.DeepCopy(), AddressType: discoveryv1.AddressTypeIPv4}
	slice.Labels[discoveryv1.LabelServiceName] = meta.Name
	for range m.IntN(3) {
		port := discoveryv1.EndpointPort{Name: new(m.name("p"))}
		if m.IntN(5) > 0 {
			port.Port = new(m.port())
		}
		slice.Ports = append(slice.Ports, port)
	}
	for range m.IntN(4) {
		e := discoveryv1.Endpoint{TargetRef: m.ref(meta.Namespace)}
		for range m.IntN(3) {
			e.Addresses = append(e.Addresses, fmt.Sprint("10.0.0.", m.IntN(250)))
		}
		slice.Endpoints = append(slice.Endpoints, e)
	}
	m.objects.Add(slice)
}

func (m *mixture) addEndpoints(meta metav1.ObjectMeta) {
	endpoints := &corev1.Endpoints{ObjectMeta: meta}
	for range m.IntN(3) {
		var s corev1.EndpointSubset
		for range m.IntN(3) {
			s.Ports = append(s.Ports, corev1.EndpointPort{Name: m.name("p"), Port: m.port()})
		}
		for range m.IntN(4) {
			a := corev1.EndpointAddress{IP: fmt.Sprint("10.0.0.", m.IntN(250)), TargetRef: m.ref(meta.Namespace)}
			if m.half() {
				s.Addresses = append(s.Addresses, a)
			} else {
				s.NotReadyAddresses = append(s.NotReadyAddresses, a)
			}
		}
		endpoints.Subsets = append(endpoints.Subsets, s)
	}
	m.objects.Add(endpoints)
}

// A brief discovery finds the same groups with as many targets. Targets that are not dropped are complete, and no
// dropped target has a label that is reported to be one of the group.
func FuzzLookBriefly(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		m := &mixture{Rand: rand.New(rand.NewPCG(seed, 0))}
		m.fill()
		sd := &targets.KubernetesSD{Role: []string{roleEndpoints, roleEndpointSlice, rolePod}[m.IntN(3)]}
		sd.AttachMetadata.Node, sd.AttachMetadata.Namespace = m.half(), m.half()
		if m.half() {
			sd.Release = semver.MustParse([]string{"2.47.0", "2.53.0", "3.5.0"}[m.IntN(3)])
		}
		drops := func(group model.LabelSet) bool { return group["__meta_kubernetes_service_label_app"] < "app3" }
		asked := 0
		brief, err := m.objects.LookBriefly(sd, "", func(group model.LabelSet, ofTarget func(model.LabelName) bool) bool {
			asked++
			for name := range group {
				if name == "__meta_kubernetes_service_label_app" && ofTarget(name) {
					t.Errorf("%s is a label of targets", name)
				}
			}
			return drops(group)
		})
		if err != nil {
			t.Fatal(err)
		}
		full, err := m.objects.Look(sd, "")
		if err != nil {
			t.Fatal(err)
		}
		if sd.Role != rolePod && asked < len(full.Groups) {
			t.Errorf("%d of %d groups are asked for", asked, len(full.Groups))
		}
		for _, group := range full.Groups {
			if sd.Role != rolePod && drops(group.Labels) {
				i := slices.IndexFunc(brief.Groups, func(b *targetgroup.Group) bool { return b.Source == group.Source })
				if i < 0 || len(brief.Groups[i].Targets) != len(group.Targets) {
					t.Fatalf("%s: %v, want %d targets", group.Source, brief.Groups, len(group.Targets))
				}
				brief.Groups[i].Targets = group.Targets
				for _, target := range group.Targets {
					for name := range target {
						if !ofTarget(name) {
							t.Errorf("%s has %s", group.Source, name)
						}
					}
				}
			}
		}
		// Ports of containers come in the order of a map of pods.
		for _, found := range []targets.Found{brief, full} {
			for _, group := range found.Groups {
				slices.SortFunc(group.Targets, func(a, b model.LabelSet) int { return strings.Compare(a.String(), b.String()) })
			}
		}
		if diff := cmp.Diff(full, brief); diff != "" {
			t.Error(diff)
		}
	})
}

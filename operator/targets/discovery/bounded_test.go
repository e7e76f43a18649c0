//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package discovery

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// shape describes the objects of a namespace.
type shape struct{ pods, ports, containerPorts, annotations, nodeLabels int }

func (s shape) pod(i int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint("p", i), Annotations: map[string]string{}}, Spec: corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{PodIP: fmt.Sprintf("10.0.%d.%d", i/250, i%250), Phase: corev1.PodRunning}}
	for k := range s.annotations {
		p.Annotations[fmt.Sprint("example.com/annotation-", k)] = fmt.Sprint("x", i)
	}
	c := corev1.Container{Name: "c", Image: "i"}
	for k := range s.containerPorts {
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: int32(30_000 + k)})
	}
	p.Spec.Containers = []corev1.Container{c}
	return p
}

// objects returns the pods of the shape, a node, and the Service with its endpoints in both forms.
func (s shape) objects() *Objects {
	var o Objects
	meta := metav1.ObjectMeta{Namespace: "demo", Name: "web"}
	service, ends := &corev1.Service{ObjectMeta: meta}, &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{}}}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
	for i := range s.ports {
		name, port := fmt.Sprint("port-", i), int32(i+1)
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: name, Port: port})
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &name, Port: &port})
		ends.Subsets[0].Ports = append(ends.Subsets[0].Ports, corev1.EndpointPort{Name: name, Port: port})
	}
	for i := range s.pods {
		pod := s.pod(i)
		o.Add(pod)
		ref := &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, TargetRef: ref, NodeName: new("n"), Conditions: discoveryv1.EndpointConditions{Ready: new(true)}})
		ends.Subsets[0].Addresses = append(ends.Subsets[0].Addresses, corev1.EndpointAddress{IP: pod.Status.PodIP, TargetRef: ref, NodeName: new("n")})
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
	for i := range s.nodeLabels {
		node.Labels[fmt.Sprint("label-", i)] = "x"
	}
	for _, object := range []Object{node, service, slice, ends} {
		o.Add(object)
	}
	return &o
}

// Objects whose targets would have too many labels together have none, before any are made. All others do.
func TestTooLarge(t *testing.T) {
	budgettest.Exact(t)
	ordinary := shape{pods: 1000, ports: 8, containerPorts: 2, annotations: 15}
	for name, c := range map[string]struct {
		shape
		roles    string
		tooLarge bool
	}{
		"ordinary":                    {ordinary, "endpoints endpointslice pod service", false},
		"annotations":                 {shape{pods: 1, ports: 1000, annotations: 3000}, "endpoints endpointslice", true},
		"annotations of one pod":      {shape{pods: 1, ports: 1, annotations: 3000}, "endpoints endpointslice pod", false},
		"labels of the node":          {shape{pods: 100, ports: 1000, nodeLabels: 100}, "endpoints endpointslice", true},
		"ports":                       {shape{pods: 100, ports: 20_000}, "endpoints endpointslice", true},
		"ports of one pod":            {shape{pods: 1, ports: 1, containerPorts: 20_000, annotations: 500}, "endpoints endpointslice", true},
		"comparing ports":             {shape{pods: 5, ports: 5000, containerPorts: 5000}, "endpoints endpointslice", true},
		"ports of a service":          {shape{ports: 20_000}, "service", false},
		"ports of containers":         {shape{pods: 1, containerPorts: 20_000}, "pod", false},
		"ports of containers, larger": {shape{pods: 1, containerPorts: 80_000}, "pod", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.objects()
			for role := range strings.FieldsSeq(c.roles) {
				sd := &targets.KubernetesSD{Role: role, AttachMetadata: targets.AttachMetadata{Node: role != roleService}}
				n, message := 0, ""
				bytes := budgettest.Allocated(func() {
					found, err := o.Look(sd, "")
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range found.Groups {
						n += len(g.Targets)
					}
					for _, gap := range found.Gaps {
						message += gap.Message
					}
				})
				if c.tooLarge != (n == 0) || c.tooLarge != strings.Contains(message, "targets of role "+role+" are not known: those of demo/") {
					t.Errorf("%s: %d targets, %q", role, n, message)
				}
				if c.tooLarge && bytes > 8<<20 {
					t.Errorf("%s: %d KiB were allocated for nothing", role, bytes>>10)
				}
				if bytes > 4*budget.GroupBytes {
					t.Errorf("%s: %d KiB were allocated", role, bytes>>10)
				}
			}
		})
	}
}

// The work for the rules of an Ingress is bounded too: each is compared with each host of its certificates.
func TestTooLargeIngress(t *testing.T) {
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}, Spec: networkingv1.IngressSpec{TLS: make([]networkingv1.IngressTLS, 1)}}
	for k := range 10_000 {
		i.Spec.Rules = append(i.Spec.Rules, networkingv1.IngressRule{Host: fmt.Sprint("host-", k)})
		i.Spec.TLS[0].Hosts = append(i.Spec.TLS[0].Hosts, fmt.Sprint("other-", k))
	}
	sd := &targets.KubernetesSD{Role: roleIngress}
	if groups, err := Of([]*networkingv1.Ingress{i}).Groups(sd, ""); len(groups) > 0 || err != nil {
		t.Errorf("%d groups, %v", len(groups), err)
	}
	i.Spec.TLS[0].Hosts = i.Spec.TLS[0].Hosts[:100]
	if groups, err := Of([]*networkingv1.Ingress{i}).Groups(sd, ""); len(groups) != 1 || err != nil {
		t.Errorf("with fewer hosts: %d groups, %v", len(groups), err)
	}
}

package discovery

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// addServices adds Services with ten pods each, and their related objects.
func addServices(add func(Object), n int) {
	for i := range n {
		meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}}
		add(&corev1.Service{ObjectMeta: meta})
		slice := &discoveryv1.EndpointSlice{ObjectMeta: meta, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(80))}}}
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
		for p := range 10 {
			pod := &corev1.Pod{ObjectMeta: meta}
			pod.Name = fmt.Sprintf("web-%d-%d", i, p)
			pod.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", i/250, i%250, p)
			pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}}}
			add(pod)
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP},
				TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}})
		}
		add(slice)
	}
}

// BenchmarkGroups builds the groups of one discovery among ten thousand pods.
func BenchmarkGroups(b *testing.B) {
	var o Objects
	addServices(func(object Object) { o.Add(object) }, 1000)
	for _, role := range []string{roleEndpointSlice, rolePod, roleService, roleIngress} {
		b.Run(role, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Groups(&targets.KubernetesSD{Role: role}, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

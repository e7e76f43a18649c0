package targets

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/prometheus/prometheus/discovery/targetgroup"
)

// BenchmarkEvaluate evaluates the job of a ServiceMonitor that keeps one in ten targets.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		var groups []*targetgroup.Group
		for i := range n / 10 {
			service := "web"
			if i%10 > 0 {
				service = "db-" + strconv.Itoa(i%10)
			}
			var group targetgroup.Group
			for k := range 10 {
				differs := map[string]string{"__meta_kubernetes_service_label_app": service}
				for label := range 10 {
					differs[fmt.Sprintf("__meta_kubernetes_pod_label_%d", label)] = "some value"
				}
				group.Targets = append(group.Targets, endpoint(fmt.Sprintf("10.%d.%d.%d:8080", i/250, i%250, k), differs).Targets...)
			}
			groups = append(groups, &group)
		}
		for name, prometheus := range map[string]string{"shards=1": slices1, "shards=20": "{shards: 20, serviceDiscoveryRole: EndpointSlice}"} {
			b.Run(fmt.Sprintf("targets=%d/%s", n, name), func(b *testing.B) {
				j := job(b, prometheus, http)
				b.ReportAllocs()
				for b.Loop() {
					if kept := j.Evaluate(Found{Groups: groups}).Counts()[Kept]; kept != n/10 {
						b.Fatal(kept)
					}
				}
			})
		}
	}
}

// BenchmarkLabels evaluates one target with many labels, that no step drops.
func BenchmarkLabels(b *testing.B) {
	for _, n := range []int{15, 30, 60, 150, 1000, 10_000} {
		with := map[string]string{"__meta_kubernetes_service_label_app": "web"}
		for i := range n {
			with[fmt.Sprintf("__meta_kubernetes_pod_annotation_%d", i)] = "some value"
			with[fmt.Sprintf("__meta_kubernetes_pod_annotationpresent_%d", i)] = "true"
		}
		group := endpoint("10.0.0.7:8080", with)
		for name, prometheus := range map[string]string{"shards=1": slices1, "shards=20": "{shards: 20, serviceDiscoveryRole: EndpointSlice}"} {
			b.Run(fmt.Sprintf("annotations=%d/%s", n, name), func(b *testing.B) {
				j := job(b, prometheus, http)
				b.ReportAllocs()
				for b.Loop() {
					if kept := j.Evaluate(Found{Groups: []*targetgroup.Group{group}}).Counts()[Kept]; kept != 1 {
						b.Fatal(kept)
					}
				}
			})
		}
	}
}

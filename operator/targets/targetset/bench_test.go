package targetset

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// monitor is a job like that of a ServiceMonitor, on four shards.
const monitor = `- job_name: serviceMonitor/demo/web/0
  kubernetes_sd_configs: [{role: endpointslice, namespaces: {names: [demo]}}]
  relabel_configs:
  - {source_labels: [job], target_label: __tmp_prometheus_job_name}
  - {action: keep, source_labels: [__meta_kubernetes_service_label_app, __meta_kubernetes_service_labelpresent_app], regex: (web);true}
  - {action: keep, source_labels: [__meta_kubernetes_endpointslice_port_name], regex: http}
  - {source_labels: [__meta_kubernetes_endpointslice_address_target_kind, __meta_kubernetes_endpointslice_address_target_name], separator: ;, regex: Node;(.*), target_label: node}
  - {source_labels: [__meta_kubernetes_endpointslice_address_target_kind, __meta_kubernetes_endpointslice_address_target_name], separator: ;, regex: Pod;(.*), target_label: pod}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_service_name], target_label: service}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {source_labels: [__meta_kubernetes_pod_container_name], target_label: container}
  - {action: drop, source_labels: [__meta_kubernetes_pod_phase], regex: (Failed|Succeeded)}
  - {source_labels: [__meta_kubernetes_service_name], target_label: job, replacement: '${1}'}
  - {target_label: endpoint, replacement: http}
  - {source_labels: [__address__], target_label: __tmp_hash, action: hashmod, modulus: 4}
  - {action: keep, source_labels: [__tmp_hash], regex: $(SHARD)}
`

const steps = 14

// slice returns the group of an EndpointSlice with ten addresses of typical pods, each with two
// targets, of which a ServiceMonitor keeps one.
func slice(b *testing.B, i int) *targetgroup.Group {
	b.Helper()
	var o discovery.Objects
	meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}}
	o.Add(&corev1.Service{ObjectMeta: meta})
	s := &discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
	s.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
	for k := range 10 {
		pod := discoverytest.TypicalPod(i*10 + k)
		o.Add(&pod)
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}})
	}
	o.Add(s)
	groups, err := o.Groups(&targets.KubernetesSD{Role: "endpointslice"}, "")
	if err != nil || len(groups) != 1 {
		b.Fatal(len(groups), err)
	}
	return groups[0]
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// cpu returns the CPU time of the process. On a busy machine it is more meaningful than elapsed
// time.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkChangedSlice changes one slice of ten addresses among many; the sub-benchmarks are named
// by the number of kept targets. The goal is 2 ms of CPU at any size.
func BenchmarkChangedSlice(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newSet(read(b, monitor, steps, 4))
			before := heap()
			for i := range n / 10 {
				s.Put(Key{Source: fmt.Sprint("endpointslice/demo/web-", i)}, slice(b, i))
			}
			if kept := s.Counts().States[targets.Kept]; kept != n {
				b.Fatalf("%d targets are kept", kept)
			}
			memory := heap() - before
			changed := [2]*targetgroup.Group{slice(b, n), slice(b, n+1)}
			b.ReportAllocs()
			began := cpu(b)
			turn := 0
			for b.Loop() {
				if !s.Put(Key{Source: "endpointslice/demo/web-0"}, changed[turn%2]) {
					b.Fatal("no change")
				}
				turn++
			}
			b.ReportMetric(memory/float64(n), "B/kept")
			b.ReportMetric(float64(cpu(b)-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
		})
	}
}

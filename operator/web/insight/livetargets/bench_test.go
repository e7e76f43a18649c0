package livetargets

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// wire is an API server with typical pods in slices of ten. Each list is decoded separately so that
// strings are not shared with the test.
type wire map[string]func() apiruntime.Object

func (s wire) Lists(kind discovery.Kind, _ string) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) {
			return s[kind.Resource.Resource](), nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
			}
			return apiwatch.NewFake(), nil
		},
	}
}

type message interface {
	apiruntime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func encoded[L message](b *testing.B, list L, empty func() L) func() apiruntime.Object {
	b.Helper()
	text, err := list.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return func() apiruntime.Object {
		out := empty()
		if err := out.Unmarshal(text); err != nil {
			panic(err)
		}
		return out
	}
}

func typical(b *testing.B, pods int) wire {
	var list corev1.PodList
	var services corev1.ServiceList
	var all discoveryv1.EndpointSliceList
	for i := range pods {
		list.Items = append(list.Items, discoverytest.TypicalPod(i))
		if i%10 > 0 {
			continue
		}
		meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}}
		services.Items = append(services.Items, corev1.Service{ObjectMeta: meta})
		slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
		for k := i; k < min(i+10, pods); k++ {
			pod := discoverytest.TypicalPod(k)
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
				NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}})
		}
		all.Items = append(all.Items, slice)
	}
	return wire{
		"pods":           encoded(b, &list, func() *corev1.PodList { return &corev1.PodList{} }),
		"services":       encoded(b, &services, func() *corev1.ServiceList { return &corev1.ServiceList{} }),
		"endpointslices": encoded(b, &all, func() *discoveryv1.EndpointSliceList { return &discoveryv1.EndpointSliceList{} }),
	}
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// large returns a source for a cluster with many pods, all of which are followed.
func large(b *testing.B, pods int) *fixture {
	b.Helper()
	out := newFixture(b)
	out.Groups.Lists = typical(b, pods).Lists
	out.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](b, `
metadata: {namespace: monitoring, name: main}
spec: {shards: 4, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}}`))
	out.cluster.set(catalog.ServiceMonitor.GroupVersionResource(), read[v1.ServiceMonitor](b, `
metadata: {namespace: demo, name: web}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}`))
	b.Cleanup(out.Close)
	return out
}

// BenchmarkFirstPart requests a page of 100 targets. The goal is 100 ms at any size and 6 KB per
// pod that is evaluated.
func BenchmarkFirstPart(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := large(b, n)
			unused := heap()
			q := all(ofMain)
			q.Limit = 100
			for {
				got := s.request(b, everything{}, q)
				if got.Synced && got.Counts.Kept == n {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			memory := heap() - unused
			for name, change := range map[string]func(*insight.TargetQuery){
				"all": func(*insight.TargetQuery) {}, "kept": func(q *insight.TargetQuery) { q.State = targets.Kept },
				"dropped": func(q *insight.TargetQuery) { q.State = targets.Dropped },
				"last":    func(q *insight.TargetQuery) { q.Filter = "10.99." },
			} {
				b.Run(name, func(b *testing.B) {
					q := q
					change(&q)
					b.ReportAllocs()
					var took []time.Duration
					for b.Loop() {
						began := time.Now()
						s.request(b, everything{}, q)
						took = append(took, time.Since(began))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)-1])/float64(time.Millisecond), "max-ms")
					b.ReportMetric(memory/float64(n), "B/pod")
				})
			}
			runtime.KeepAlive(s)
		})
	}
}

// BenchmarkOneTarget requests one target of many when each pod is a group. The goal is 100 ms at
// any size for links, which name the object.
func BenchmarkOneTarget(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := large(b, n)
			s.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](b, prometheusText))
			s.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](b, `
metadata: {namespace: demo, name: web}
spec: {selector: {}, podMetricsEndpoints: [{port: http-server}]}`))
			q := all(ofMain)
			q.Limit, q.State = 1, targets.Kept
			got := s.request(b, everything{}, q)
			for !got.Synced || got.Counts.Kept != n {
				time.Sleep(10 * time.Millisecond)
				got = s.request(b, everything{}, q)
			}
			one := got.Items[0]
			for name, source := range map[string]string{"link": one.Source.Path(), "ID alone": ""} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := s.Target(b.Context(), everything{}, ofMain, webJob, one.ID, source); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkUnused measures the cost of a source without requests.
func BenchmarkUnused(b *testing.B) {
	api := typical(b, 10_000)
	before := heap()
	s := large(b, 0)
	s.Groups.Lists = api.Lists
	b.ReportMetric(heap()-before, "B")
	for b.Loop() {
		if s.Counts(main) != nil {
			b.Fatal("something is followed")
		}
	}
	runtime.KeepAlive(api)
}

// BenchmarkCompile recompiles a workload after one of its monitors has changed.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{100, 1_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := large(b, 10)
			text := strings.NewReplacer("name: web", "name: web-%d", "http}", "http, interval: %ds}").Replace("metadata: {namespace: demo, name: web}\nspec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}")
			for i := range n {
				s.cluster.set(catalog.ServiceMonitor.GroupVersionResource(), read[v1.ServiceMonitor](b, fmt.Sprintf(text, i, 30)))
			}
			q := all(ofMain)
			s.request(b, everything{}, q)
			b.ReportAllocs()
			turn := 0
			for b.Loop() {
				turn++
				s.cluster.set(catalog.ServiceMonitor.GroupVersionResource(), read[v1.ServiceMonitor](b, fmt.Sprintf(text, 0, 30+turn%9)))
				w := s.of(main)
				w.mu.Lock()
				w.due = time.Time{}
				w.mu.Unlock()
				if _, err := w.open(b.Context(), func(*job) bool { return false }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

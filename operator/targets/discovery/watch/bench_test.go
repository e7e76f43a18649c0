package watch

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// sent is an API server whose lists are decoded for each reader, so that they share no strings with
// the test.
type sent map[string]func() apiruntime.Object

func (s sent) Lists(kind discovery.Kind, _ string) *cache.ListWatch {
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

func encode[L message](b *testing.B, list L, empty func() L) func() apiruntime.Object {
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

// typical returns Services of ten typical pods each, with two targets per pod.
func typical(b *testing.B, pods int) sent {
	var list corev1.PodList
	var services corev1.ServiceList
	var slices discoveryv1.EndpointSliceList
	for i := range pods {
		list.Items = append(list.Items, discoverytest.TypicalPod(i))
		if i%10 > 0 {
			continue
		}
		meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}}
		services.Items = append(services.Items, corev1.Service{ObjectMeta: meta})
		slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
		slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
		for k := i; k < i+10; k++ {
			pod := discoverytest.TypicalPod(k)
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
				NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}})
		}
		slices.Items = append(slices.Items, slice)
	}
	return sent{
		"pods":           encode(b, &list, func() *corev1.PodList { return &corev1.PodList{} }),
		"services":       encode(b, &services, func() *corev1.ServiceList { return &corev1.ServiceList{} }),
		"endpointslices": encode(b, &slices, func() *discoveryv1.EndpointSliceList { return &discoveryv1.EndpointSliceList{} }),
	}
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// complete subscribes and waits until the groups are complete.
func complete(b *testing.B, c *Cluster, sd targets.KubernetesSD) *Subscription {
	b.Helper()
	woken := make(chan struct{}, 1)
	sub, err := c.Subscribe(&sd, "", func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	for len(sub.Gaps()) > 0 {
		<-woken
	}
	return sub
}

// BenchmarkMemory reports the heap of a pod in the informer, and of a discovered target.
func BenchmarkMemory(b *testing.B) {
	const pods = 20_000
	api := typical(b, pods)
	for b.Loop() {
		c := &Cluster{Lists: api.Lists}
		before := heap()
		var sources []*source // without groups
		open := func(kinds ...discovery.Kind) float64 {
			for _, kind := range kinds {
				c.mu.Lock()
				s := c.source(place{kind: kind}, nil)
				c.mu.Unlock()
				cache.WaitFor(b.Context(), "", s.informer.HasSyncedChecker())
				sources = append(sources, s)
			}
			return heap()
		}
		kinds := discovery.Kinds(&targets.KubernetesSD{Role: "endpointslice"})
		pod := open(kinds[2])
		informers := open(kinds[:2]...)
		sub := complete(b, c, targets.KubernetesSD{Role: "endpointslice"})
		sub.mu.Lock()
		sub.changed = nil // as after Take
		sub.mu.Unlock()
		all := heap()
		n := 0
		sub.leases[0].view.mu.Lock()
		for _, groups := range sub.leases[0].view.groups {
			for _, g := range groups {
				n += g.group.Len()
			}
		}
		sub.leases[0].view.mu.Unlock()
		b.ReportMetric((pod-before)/pods, "B/pod")
		b.ReportMetric((informers-pod)/(pods/10), "B/slice+service")
		b.ReportMetric((all-informers)/float64(n), "B/target")
		b.ReportMetric((all-before)/pods, "B/pod-in-all")
		b.ReportMetric(float64(n), "targets")
		sub.Close()
		runtime.KeepAlive(c)
		c.mu.Lock()
		c.leave(sources)
		c.mu.Unlock()
		c.Close()
	}
}

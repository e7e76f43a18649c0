package livetargets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// stuck blocks Get until held is closed.
type stuck struct {
	*cluster
	held     chan struct{}
	requests chan struct{}
}

func (s stuck) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	s.requests <- struct{}{}
	<-s.held
	return s.cluster.Get(ctx, of, key)
}

// Known counts are returned without blocking on reads, and as the same pointer until they change.
func TestCountsDoNotWait(t *testing.T) {
	b := newFixture(t)
	defer b.Close()
	b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
	for got := b.request(t, everything{}, all(ofMain)); !got.Synced || got.Counts.Kept != 1; {
		got = b.request(t, everything{}, all(ofMain))
	}
	before, again := b.Counts(main), b.Counts(main)
	for tries := 0; before != again; tries++ { // a notification about the last pod may be on its way
		if tries == 1000 {
			t.Fatal("the same numbers are another value")
		}
		before, again = again, b.Counts(main)
	}
	s := stuck{b.cluster, make(chan struct{}), make(chan struct{})}
	b.Reader = s
	b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText))
	b.workloads[main].due = time.Time{}
	result := make(chan error)
	go func() {
		_, err := b.Targets(t.Context(), everything{}, all(ofMain))
		result <- err
	}()
	<-s.requests
	told := make(chan *insight.TargetCounts, 1)
	go func() {
		b.size()
		told <- b.Counts(main)
	}()
	select {
	case counts := <-told:
		if fmt.Sprintf("%+v", counts) != fmt.Sprintf("%+v", before) {
			t.Errorf("%+v, before %+v", counts, before)
		}
	case <-time.After(10 * time.Second):
		t.Error("the numbers wait for what is being read")
	}
	close(s.held)
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// While a resource that was read once cannot be read, its last targets are returned with a note.
func TestOutdated(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		pods := b.api.Kind("pods")
		pods.Add(pod("demo", "web-0", "web", 1))
		ofPod := insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
		jobs := []targets.Job{{Discoveries: targets.Discoveries{Kubernetes: []targets.KubernetesSD{{Role: "pod"}}}}}
		f := Finder{Groups: b.Groups, Denied: "grant it", Patience: time.Second}
		notes := func() (out [][]string) {
			for _, q := range []insight.TargetQuery{all(ofMain), all(ofWeb), ofPod} {
				got := b.request(t, everything{}, q)
				if !got.Synced || got.Counts.Kept != 1 || len(got.Items) != 1 {
					t.Errorf("%+v", got)
				}
				out = append(out, got.Notes)
			}
			_, notes, err := f.Find(t.Context(), jobs, &preview.Workload{Ref: main})
			if err != nil {
				t.Error(err)
			}
			return append(out, notes)
		}
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		for range 2 {
			for _, of := range notes() {
				if len(of) > 0 {
					t.Errorf("notes %q", of)
				}
			}
			b.api.Deny("pods", true)
			pods.ResetWatch()
			settled(aMinute)
			want := "targets of role pod may be out of date: no permission to list pods in all namespaces; grant it"
			for _, of := range notes() {
				if !slices.Equal(of, []string{want}) && !slices.Equal(of, []string{strings.Replace(want, " list ", " watch ", 1)}) {
					t.Errorf("notes %q", of)
				}
			}
			b.api.Deny("pods", false)
			settled(2 * aMinute)
		}
	})
}

// Without permission to list pods it is unknown whether a job finds a pod, and the note on that is
// not crowded out by those of workloads.
func TestPodNotKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.cluster.set(readers.Pods, pod("demo", "web-0", "web", 1))
		b.api.Deny("pods", true)
		for i := range 2 * maxNotes { // each has a note with the name of a field
			b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.NewReplacer("name: main", fmt.Sprintf("name: a-%d", i), "shards: 2", "scrapeInterval: nonsense").Replace(prometheusText)))
		}
		q := insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
		b.request(t, everything{}, q)
		settled(time.Second)
		got := b.request(t, everything{}, q)
		if text := strings.Join(got.Notes, "\n"); !strings.Contains(text, "no permission to list pods") || strings.Contains(text, "no job finds") || len(got.Notes) != maxNotes || got.Counts.Unknown != 1 || len(got.Items) > 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A target is found by its ID for each kind of source object, with or without naming the object.
func TestTargetBySource(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		meta := metav1.ObjectMeta{Namespace: "demo", Name: "x", Labels: map[string]string{discoveryv1.LabelServiceName: "x"}}
		address := corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.1.0.1"}
		b.api.Kind("pods").Add(pod("demo", "x", "web", 1))
		b.api.Kind("services").Add(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: "10.2.0.1", Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}})
		b.api.Kind("nodes").Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{address}}})
		b.api.Kind("ingresses").Add(&networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "x",
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/"}}}}}}}})
		b.api.Kind("endpointslices").Add(&discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
			Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(80))}}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.2"}}}})
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "probeSelector", "scrapeConfigSelector: {}, scrapeConfigNamespaceSelector", 1)))
		b.cluster.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, `
metadata: {namespace: demo, name: all}
spec:
  kubernetesSDConfigs: [{role: Pod}, {role: Service}, {role: Node}, {role: Ingress}, {role: EndpointSlice}]
  staticConfigs: [{targets: [a, b]}]`))
		q := all(ofMain)
		q.Job = "scrapeConfig/demo/all"
		b.request(t, everything{}, q)
		settled(aMinute)
		items := b.request(t, everything{}, q).Items
		if len(items) != 7 {
			t.Errorf("targets %v", names(items))
		}
		for _, target := range items {
			for _, source := range []string{target.Source.Path(), ""} {
				trace, err := b.Target(t.Context(), everything{}, ofMain, q.Job, target.ID, source)
				if err != nil {
					t.Errorf("%s in %q: %v", target.URL, source, err)
				} else if diff := cmp.Diff(target, trace.Target); diff != "" {
					t.Error(diff)
				}
			}
			if _, err := b.Target(t.Context(), everything{}, ofMain, q.Job, target.ID, "Pod/demo/y"); !apierrors.IsNotFound(err) {
				t.Errorf("%s in another object: %v", target.URL, err)
			}
			if _, err := b.Target(t.Context(), everything{}, ofMain, q.Job, target.ID, "demo/y"); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `parameter "source"`) {
				t.Error(err)
			}
		}
	})
}

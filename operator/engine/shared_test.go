package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// operated returns the ports and the owners of the shared Service.
func (b *harness) operated() string {
	s, ok := get[corev1.Service](b, "services", "operated")
	if !ok {
		return "none"
	}
	var ports, owners []string
	for _, p := range s.Spec.Ports {
		ports = append(ports, p.Name)
	}
	for _, o := range s.OwnerReferences {
		owners = append(owners, o.Name)
	}
	slices.Sort(ports)
	slices.Sort(owners)
	return fmt.Sprint(ports, owners)
}

// Workloads of a namespace share a Service: it has the ports that each needs, and loses those that
// are no longer needed, no matter which workload writes it.
func TestASharedService(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		port := func(name string) func(*v1.ThanosRuler) {
			return func(w *v1.ThanosRuler) { w.Annotations["port"] = name }
		}
		b.set(ruler("a", port("grpc")))
		b.set(ruler("b"))
		b.start(nil, f)
		for _, tc := range []struct {
			what string
			do   func()
			want string
		}{
			{"two workloads", func() {}, "[grpc web] [a b]"},
			{"one changes its ports", func() {
				edit(b, "thanosrulers", "a", port("http"))
			}, "[http web] [a b]"},
			{"a third comes", func() { b.set(ruler("c", port("x"))) }, "[http web x] [a b c]"},
			{"one takes a Service of its own", func() {
				b.set(service("mine", nil))
				edit(b, "thanosrulers", "c", served("mine"))
			}, "[http web] [a b]"},
			{"one is deleted", func() {
				b.deleted(ruler("a"))
				b.settle()
				edit(b, "services", "operated", func(s *corev1.Service) { // the garbage collector
					s.OwnerReferences = slices.DeleteFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Name == "a" })
				})
			}, "[web] [b]"},
			{"somebody deletes the Service", func() { b.gone(service("operated", nil)) }, "[web] [b]"},
			{"somebody takes the references away", func() {
				edit(b, "services", "operated", func(s *corev1.Service) { s.OwnerReferences = nil })
			}, "[web] [b]"},
		} {
			tc.do()
			b.settle()
			if got := b.operated(); got != tc.want {
				t.Errorf("%s: Service with %s, want %s", tc.what, got, tc.want)
			}
		}
	})
}

// prometheusNamed returns a workload of the other kind.
func prometheusNamed(name string) *v1.Prometheus {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Generation: 1, UID: "uid-of-prometheus"}}
	p.Spec.RuleSelector = &metav1.LabelSelector{}
	p.Annotations = map[string]string{"service": "mine"}
	return p
}

// podOf returns a running pod of a StatefulSet, for a workload named a.
func podOf(set string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: set + "-0", UID: "1",
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "prometheus-operator", "app.kubernetes.io/instance": "a", "name": "a", appsv1.StatefulSetPodNameLabel: set + "-0",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}

// Workloads of two kinds have the same name and namespace: their objects are kept apart, although
// both read the same stores.
func TestTwoKindsWithOneName(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, rulers *fakeKind) {
		servers := newFake(catalog.Prometheus, "prom")
		b.set(service("mine", nil))
		b.set(rule("alerts"))
		b.set(ruler("a", served("mine")))
		b.set(prometheusNamed("a"))
		b.start(nil, rulers, servers)
		if got := b.bound("alerts"); got != "prometheuses/a=True thanosrulers/a=True" {
			t.Errorf("bindings %q", got)
		}
		b.set(podOf("ruler-a"))
		b.set(podOf("prom-a"))
		b.settle()
		p, _ := get[v1.Prometheus](b, "prometheuses", "a")
		w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a")
		if p.Status.Replicas != 1 || w.Status.Replicas != 1 {
			t.Errorf("%d and %d pods", p.Status.Replicas, w.Status.Replicas)
		}
		count := func(do func()) string {
			r, s := rulers.of("a"), servers.of("a")
			do()
			b.settle()
			return fmt.Sprint(rulers.of("a") > r, servers.of("a") > s)
		}
		for what, tc := range map[string]struct {
			do   func()
			want string
		}{
			"a Secret of the ruler": {func() {
				edit(b, "secrets", "ruler-a-config", func(s *corev1.Secret) { s.Data = nil })
			}, "true false"},
			"a Secret of the server": {func() {
				edit(b, "secrets", "prom-a-config", func(s *corev1.Secret) { s.Data = nil })
			}, "false true"},
			"the StatefulSet of the server": {func() {
				edit(b, "statefulsets", "prom-a", func(s *appsv1.StatefulSet) { s.Spec.Template.Labels = nil })
			}, "false true"},
			"a rule of both": {func() { edit(b, "prometheusrules", "alerts", func(*v1.PrometheusRule) {}) }, "true true"},
			"a pod":          {func() { edit(b, "pods", "prom-a-0", func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.2" }) }, "false false"},
		} {
			if got := count(tc.do); got != tc.want {
				t.Errorf("%s wakes ruler and server: %s, want %s", what, got, tc.want)
			}
		}
		b.deleted(ruler("a"))
		b.settle()
		if got := b.bound("alerts"); got != "prometheuses/a=True" {
			t.Errorf("bindings %q after the deletion of the ruler", got)
		}
	})
}

// Only the pods of the workload are notified of new content.
func TestPodsAreTold(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		other := podOf("other-a")
		going := podOf("ruler-a")
		going.Name, going.UID, going.DeletionTimestamp, going.Finalizers = "ruler-a-1", "2", new(metav1.Now()), []string{"x/y"}
		pending := podOf("ruler-a")
		pending.Name, pending.UID, pending.Spec.NodeName = "ruler-a-2", "3", ""
		for _, p := range []*corev1.Pod{podOf("ruler-a"), other, going, pending} {
			b.set(p)
		}
		b.set(rule("alerts"))
		b.set(ruler("a"))
		told := func() (out []string) {
			for _, w := range b.written() {
				if rest, is := strings.CutPrefix(w, "patch pods team/"); is {
					out = append(out, rest)
				}
			}
			return slices.Compact(out)
		}
		b.start(nil, f)
		if got := told(); !slices.Equal(got, []string{"ruler-a-0"}) {
			t.Errorf("told %q", got)
		}
		b.after(time.Hour)
		told()
		b.set(rule("bad", "bad", "broken")) // does not change the content
		b.settle()
		if got := told(); len(got) > 0 {
			t.Errorf("told %q of nothing", got)
		}
		b.set(rule("more"))
		b.settle()
		if got := told(); !slices.Equal(got, []string{"ruler-a-0"}) {
			t.Errorf("told %q of another rule", got)
		}
		pending.Spec.NodeName = "node"
		b.set(pending)
		b.settle()
		if got := told(); !slices.Equal(got, []string{"ruler-a-2"}) {
			t.Errorf("told %q when a pod came to a node", got)
		}
	})
}

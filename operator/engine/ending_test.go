package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestAStatefulSetWhoseDeletionLasts: the spec is not written before the StatefulSet is gone, which the condition says when
// that takes long, also after a restart and when the clock of the API server is ahead.
func TestAStatefulSetWhoseDeletionLasts(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"clocks agree": 0, "the API server is ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				b.set(rule("alerts"))
				b.set(ruler("a"))
				b.start(nil, f)
				edit(b, "statefulsets", "ruler-a", func(s *appsv1.StatefulSet) {
					s.Generation-- // metadata
					s.Finalizers = []string{"example.org/keep", "foregroundDeletion"}
					s.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(ahead)}
				})
				since := time.Now().Add(ahead).UTC().Format(time.RFC3339)
				edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
				b.after(endingGrace - time.Second)
				if got := b.condition("a", v1.Reconciled); got != "True" {
					t.Errorf("at first: %s", got)
				}
				b.after(2 * time.Second)
				want := `False WaitingForDeletion StatefulSet "ruler-a" is being deleted since ` + since + ", and is recreated with the current spec once it is gone: " +
					`it waits for its pods to end, and for the client that has to remove the finalizer "example.org/keep"`
				if got := b.condition("a", v1.Reconciled); got != want {
					t.Errorf("later: %s\nwant %s", got, want)
				}
				if w, _ := get[v1.ThanosRuler](b, "thanosrulers", "a"); w.Status.Conditions[1].ObservedGeneration != 2 {
					t.Errorf("of generation %d", w.Status.Conditions[1].ObservedGeneration)
				}
				b.stop()
				b.after(time.Minute)
				b.start(nil, f)
				if got := b.condition("a", v1.Reconciled); ahead == 0 && got != want {
					t.Errorf("after a restart: %s", got)
				}
				b.gone(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ruler-a"}})
				b.settle()
				if got := b.condition("a", v1.Reconciled); got != "True" || templateOf(b).Labels["generation"] != "2" {
					t.Errorf("when it is gone: %s, the template is that of generation %s", got, templateOf(b).Labels["generation"])
				}
			})
		})
	}
}

// TestAGoverningServiceWithAClusterIP: the Service of others that is taken over keeps its cluster IP, and the workload
// names it until it is deleted.
func TestAGoverningServiceWithAClusterIP(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		f.plans(func(_ v1.Workload, p *Plan) error {
			for _, s := range p.Workload {
				if svc, is := s.Object.(*corev1.Service); is {
					svc.Spec.ClusterIP = corev1.ClusterIPNone
				}
			}
			return nil
		})
		theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "operated"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.7", ClusterIPs: []string{"10.0.0.7"}}}
		b.set(theirs)
		b.set(rule("alerts"))
		b.set(ruler("a"))
		b.start(nil, f)
		want := `True ServiceNotHeadless Service "operated" has the cluster IP 10.0.0.7, so that the host names of pods, by which they find each other, do not resolve: delete the Service, and the operator creates a headless one`
		if got := b.condition("a", v1.Reconciled); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		edit(b, "thanosrulers", "a", func(*v1.ThanosRuler) {})
		b.settle()
		if n := strings.Count(b.log.String(), "governing Service is not headless"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, b.log)
		}
		b.gone(theirs)
		b.settle()
		if got := b.condition("a", v1.Reconciled); got != "True" {
			t.Errorf("when it is recreated: %s", got)
		}
		if s, _ := get[corev1.Service](b, "services", "operated"); s.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Errorf("the new one has the cluster IP %q", s.Spec.ClusterIP)
		}
		if got := b.written(); !slices.Contains(got, "create services team/operated") {
			t.Errorf("wrote %q", got)
		}
	})
}

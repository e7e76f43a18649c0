package apply

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// sharedBy returns a Service with ports in the form "name number" and owners.
func sharedBy(owners string, ports ...string) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shared", ResourceVersion: "5"}}
	for name := range strings.FieldsSeq(owners) {
		kind := "Prometheus"
		if strings.HasPrefix(name, "chart") {
			kind = "Chart"
		}
		s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID(name)})
	}
	for _, text := range ports {
		p := corev1.ServicePort{Protocol: corev1.ProtocolTCP}
		if _, err := fmt.Sscan(text, &p.Name, &p.Port); err != nil {
			panic(err)
		}
		p.TargetPort = intstr.FromString(p.Name)
		s.Spec.Ports = append(s.Spec.Ports, p)
	}
	s.Spec.Type, s.Spec.SessionAffinity = corev1.ServiceTypeClusterIP, corev1.ServiceAffinityNone
	return s
}

// The parts of a Service that other owners need are kept, and unused ones are removed. The caller knows the owners
// whose names begin with "user" (they use it) or "left" (they do not).
func TestSharedServices(t *testing.T) {
	for name, tc := range map[string]struct {
		live, want  *corev1.Service
		owner, port string
		change      Change
	}{
		"as wanted":                {sharedBy("user", "web 9090"), sharedBy("user", "web 9090"), "user", "web", Unchanged},
		"owners in another order":  {sharedBy("user2 user", "web 9090"), sharedBy("user user2", "web 9090"), "user2 user", "web", Unchanged},
		"a port that nobody needs": {sharedBy("user", "web 9090", "grpc 10901"), sharedBy("user", "web 9090"), "user", "web", Updated},
		"one that left":            {sharedBy("user left", "web 9090"), sharedBy("user", "web 9090"), "user", "web", Updated},
		"one more":                 {sharedBy("user", "web 9090"), sharedBy("user user2", "web 9090", "grpc 10901"), "user user2", "web grpc", Updated},
		"a stranger's port":        {sharedBy("stranger user", "grpc 10901", "web 9090"), sharedBy("user", "web 9090"), "stranger user", "grpc web", Unchanged},
		"a stranger is the first":  {sharedBy("stranger", "http 9090"), sharedBy("user", "web 9090", "grpc 10901"), "stranger user", "http grpc", Updated},
		"a chart is no workload":   {sharedBy("chart user", "web 9090", "grpc 10901"), sharedBy("user", "web 9090"), "chart user", "web", Updated},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.live.DeepCopy())
			b.services.show(tc.live)
			b.writer.UsesService = func(namespace string, ref metav1.OwnerReference) (uses, known bool) {
				known = strings.HasPrefix(ref.Name, "user") || strings.HasPrefix(ref.Name, "left")
				return strings.HasPrefix(ref.Name, "user"), known && namespace == "ns"
			}
			change, err := b.writer.Service(t.Context(), tc.want)
			if err != nil || change != tc.change {
				t.Fatalf("%s, %v, want %s", change, err, tc.change)
			}
			got, err := b.kube.CoreV1().Services("ns").Get(t.Context(), "shared", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var owners, ports []string
			for _, r := range got.OwnerReferences {
				owners = append(owners, r.Name)
			}
			for _, p := range got.Spec.Ports {
				ports = append(ports, p.Name)
			}
			if strings.Join(owners, " ") != tc.owner || strings.Join(ports, " ") != tc.port {
				t.Errorf("owners %v, ports %v, want %s, %s", owners, ports, tc.owner, tc.port)
			}
		})
	}
}

// TestComparingASharedServiceAllocatesLittle: the workloads of a namespace share a Service, and each of their
// reconciliations compares its owners, which are as many.
func TestComparingASharedServiceAllocatesLittle(t *testing.T) {
	b := newBench(t)
	want := service()
	want.OwnerReferences = nil
	for i := range 200 {
		want.OwnerReferences = append(want.OwnerReferences, metav1.OwnerReference{
			APIVersion: "monitoring.coreos.com/v1", Kind: "Prometheus", Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i)), BlockOwnerDeletion: new(true),
		})
	}
	live := want.DeepCopy()
	live.Spec.Type, live.Spec.SessionAffinity = corev1.ServiceTypeClusterIP, corev1.ServiceAffinityNone
	for i := range live.Spec.Ports {
		live.Spec.Ports[i].Protocol = corev1.ProtocolTCP
	}
	before := want.DeepCopy()
	if !b.writer.sameService(want, live) || !equality.Semantic.DeepEqual(want, before) {
		t.Fatalf("the Service differs: %+v", want)
	}
	if n := testing.AllocsPerRun(10, func() { b.writer.sameService(want, live) }); n > 40 {
		t.Errorf("%v allocations for 200 owners", n)
	}
	live.OwnerReferences[150].BlockOwnerDeletion = new(false)
	if b.writer.sameService(want, live) {
		t.Error("another value of blockOwnerDeletion is not noticed")
	}
}

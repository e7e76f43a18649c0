package engine

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// counted is a workload whose conversions are counted.
type counted struct{ workload.ServiceUser }

func (counted) ServicePorts() []corev1.ServicePort { return nil }
func (counted) Peer(ports []corev1.ServicePort, foreign bool) workload.Peer {
	return workload.Peer{Ports: ports, Foreign: foreign}
}

// TestPeersAreConvertedOnce: what a workload contributes to the Service of its namespace is computed
// once for all workloads there, and again only after it changed.
func TestPeersAreConvertedOnce(t *testing.T) {
	for _, n := range []int{1, 10, 50, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
				name := func(i int) string { return fmt.Sprintf("r%d", i) }
				for i := range n {
					b.set(ruler(name(i)))
				}
				c := b.start(nil, f)[0]
				converted := map[string]int{}
				of := func(w v1.Workload) workload.ServiceUser { converted[w.GetName()]++; return counted{} }
				pass := func() (peers int) {
					first := c.sharing("team")
					for range n { // each of them depends on all
						s := c.sharing("team")
						if len(s.peers) > 0 && s.serviceUsers(of) != first.serviceUsers(of) {
							t.Error("the Service of unchanged workloads is built again")
						}
						peers = len(s.peers)
					}
					return peers
				}
				if got := pass(); got != n || len(converted) != n {
					t.Fatalf("%d peers, %d converted, want %d", got, len(converted), n)
				}
				for name, times := range converted {
					if times != 1 {
						t.Errorf("%s was converted %d times", name, times)
					}
				}
				b.set(ruler(name(0), func(r *v1.ThanosRuler) { r.Generation, r.Annotations = 2, map[string]string{"port": "other"} }))
				b.settle()
				clear(converted)
				if pass(); len(converted) != 1 || converted[name(0)] != 1 {
					t.Errorf("after a change of %s: %v", name(0), converted)
				}
				b.gone(ruler(name(0)))
				b.settle()
				clear(converted)
				if got := pass(); got != n-1 || len(converted) != 0 || len(c.sharings.all) != min(n-1, 1) {
					t.Errorf("after a deletion: %d peers, %d namespaces, %v", got, len(c.sharings.all), converted)
				}
			})
		})
	}
}

// A workload that cannot be converted, because of a defect, is left out of the Service of the others.
func TestAPeerThatCannotBeConverted(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("bad"))
		b.set(ruler("good"))
		c := b.start(nil, f)[0]
		converted := 0
		of := func(w v1.Workload) workload.ServiceUser {
			if converted++; w.GetName() == "bad" {
				panic("defect")
			}
			return counted{}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the defect is not noticed")
				}
			}()
			c.sharing("team").serviceUsers(of)
		}()
		if c.sharing("team").serviceUsers(of) == nil || converted != 2 {
			t.Errorf("%d conversions", converted)
		}
	})
}

// An owner reference of the shared Service to a workload that was recreated is no longer needed. References to what this
// operator does not manage stay: their owners may be newer than its cache.
func TestUsersOfTheSharedService(t *testing.T) {
	inBubble(t, func(t *testing.T, b *harness, f *fakeKind) {
		b.set(ruler("own"))
		b.set(ruler("other", func(r *v1.ThanosRuler) { r.Annotations[ControllerIDAnnotation] = "other" }))
		c := b.start(nil, f)[0]
		for name, tc := range map[string]struct {
			ref         metav1.OwnerReference
			uses, known bool
		}{
			"ours":             {metav1.OwnerReference{Kind: "ThanosRuler", Name: "own", UID: "uid-own"}, true, true},
			"ours, recreated":  {metav1.OwnerReference{Kind: "ThanosRuler", Name: "own", UID: "before"}, false, true},
			"unknown":          {metav1.OwnerReference{Kind: "ThanosRuler", Name: "gone", UID: "uid-gone"}, false, false},
			"another's, newer": {metav1.OwnerReference{Kind: "ThanosRuler", Name: "other", UID: "after"}, false, false},
			"another kind":     {metav1.OwnerReference{Kind: "Deployment", Name: "own", UID: "before"}, false, false},
		} {
			if uses, known := c.usesService("team", tc.ref); known != tc.known || uses != tc.uses {
				t.Errorf("%s: uses %t, known %t", name, uses, known)
			}
		}
	})
}

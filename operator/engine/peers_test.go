package engine

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

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
			inBubble(t, func(t *testing.T, b *bed, f *fakeKind) {
				name := func(i int) string { return fmt.Sprintf("r%d", i) }
				for i := range n {
					b.set(ruler(name(i)))
				}
				c := b.start(nil, f)[0]
				converted := map[string]int{}
				of := func(w v1.Workload) workload.ServiceUser { converted[w.GetName()]++; return counted{} }
				pass := func() (peers int) {
					for range n { // each of them depends on all
						peers = 0
						for _, p := range c.peers("team") {
							p.user(of)
							peers++
						}
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
				if got := pass(); got != n-1 || len(converted) != 0 || len(c.uses.all["team"]) != n-1 {
					t.Errorf("after a deletion: %d peers, %d kept, %v", got, len(c.uses.all["team"]), converted)
				}
			})
		})
	}
}

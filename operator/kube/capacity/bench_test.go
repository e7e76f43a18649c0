package capacity

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkEnter measures one change among many objects, both if all of them fit and if they do not.
func BenchmarkEnter(b *testing.B) {
	for name, room := range map[string]int64{"fits": 1 << 30, "tight": 20 << 20} {
		b.Run(name, func(b *testing.B) {
			s := newServer(New(room), "ServiceMonitor")
			for i := range 10_000 {
				s.put(fmt.Sprintf("team-%d", i%100), fmt.Sprint(i), 3)
			}
			o := s.stored[types.NamespacedName{Namespace: "team-7", Name: "7"}].DeepCopy()
			for i := 0; b.Loop(); i++ {
				o.ResourceVersion = fmt.Sprint(i)
				s.Enter(o)
			}
		})
	}
}

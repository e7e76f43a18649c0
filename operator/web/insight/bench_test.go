package insight_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// BenchmarkAnswers runs requests on clusters of several sizes, in which all workloads select
// monitors in all namespaces.
func BenchmarkAnswers(b *testing.B) {
	for _, size := range [][2]int{{10, 100}, {1, 10_000}, {1000, 10_000}} {
		s := &versioned{loaded(b, cluster(size[0], size[1])), 1}
		c := &clock{at: now}
		a := kept(s, c)
		part := insight.Page{Limit: 100}
		o := insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "ns0", Name: "p0"}}
		change := func(i int) {
			m := s.objects[catalog.ServiceMonitor.GroupVersionResource()][i%100].(*v1.ServiceMonitor).DeepCopy()
			m.ResourceVersion, m.Generation = fmt.Sprint(i+2), int64(i+2)
			s.objects[catalog.ServiceMonitor.GroupVersionResource()][i%100] = m
			s.change()
			c.pass(time.Minute)
		}
		for _, bc := range []struct {
			name   string
			before func(int)
			ask    func() error
		}{
			{"first", func(int) { a = kept(s, c) }, func() error {
				_, err := a.Overview(b.Context(), everything, insight.OverviewQuery{Page: part})
				return err
			}},
			{"unchanged", func(int) {}, func() error {
				_, err := a.Overview(b.Context(), everything, insight.OverviewQuery{Page: part})
				return err
			}},
			{"one monitor changed", change, func() error {
				_, err := a.Overview(b.Context(), everything, insight.OverviewQuery{Page: part})
				return err
			}},
			{"sources", func(int) {}, func() error {
				_, err := a.Sources(b.Context(), everything, o, insight.SourceQuery{Page: part})
				return err
			}},
			{"workload", func(int) {}, func() error { _, err := a.Workload(b.Context(), everything, o); return err }},
			{"first config", func(int) { a = kept(s, c) }, func() error {
				_, err := a.Config(b.Context(), everything, o, insight.ConfigQuery{Page: part})
				return err
			}},
			{"config", func(int) {}, func() error {
				_, err := a.Config(b.Context(), everything, o, insight.ConfigQuery{Page: part})
				return err
			}},
		} {
			b.Run(fmt.Sprintf("%s/workloads=%d/monitors=%d", bc.name, size[0], size[1]), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					bc.before(i)
					if err := bc.ask(); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
	}
}

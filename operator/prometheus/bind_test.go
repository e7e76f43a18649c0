package prometheus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/bindings"
)

// boundMonitors are n monitors in order that the owner has accepted, with verdicts
// that say so.
func boundMonitors(n int, o bindings.Owner) (all []*v1.ServiceMonitor, verdicts []judged) {
	for i := range n {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("m%05d", i), Generation: 3, ResourceVersion: "1"}}
		change, _ := bindings.Bind(bindings.Object{Generation: 3}, o, nil, now)
		m.Status = *change.Status
		all = append(all, m)
		verdicts = append(verdicts, judged{object: m})
	}
	return all, verdicts
}

func newBound(verdicts []judged, o bindings.Owner) *bound {
	return &bound{
		writer: bindings.NewWriter(func(context.Context, bindings.Change) (string, []v1.WorkloadBinding, error) {
			return "", nil, errors.New("nothing is written here")
		}),
		owner: o, verdicts: map[string][]judged{v1.ServiceMonitorKind: verdicts}, now: now,
	}
}

func monitorStatus(m *v1.ServiceMonitor) *v1.ConfigResourceStatus { return &m.Status }

func TestCompareBindings(t *testing.T) {
	o := bindings.Owner{Resource: "prometheuses", Namespace: "monitoring", Name: "k8s"}
	for name, tc := range map[string]struct {
		change       func(all []*v1.ServiceMonitor, verdicts []judged) ([]*v1.ServiceMonitor, []judged)
		set, removed []string
	}{
		"nothing": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) { return a, v }, nil, nil},
		"one is rejected": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) {
			v[2].err = errors.New("bad")
			return a, v
		}, []string{"m00002"}, nil},
		"one is not selected": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) {
			return a, slices.Delete(v, 1, 2)
		}, nil, []string{"m00001"}},
		"none is selected": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) { return a, nil }, nil, []string{"m00000", "m00001", "m00002", "m00003"}},
		"one is gone": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) {
			return slices.Delete(a, 0, 1), v
		}, nil, nil},
		"one is new": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) {
			a[3].Status.Bindings = nil
			return a, v
		}, []string{"m00003"}, nil},
		"one is newer than it": {func(a []*v1.ServiceMonitor, v []judged) ([]*v1.ServiceMonitor, []judged) {
			a[1] = a[1].DeepCopy()
			a[1].Generation = 4
			return a, v
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all, verdicts := tc.change(boundMonitors(4, o))
			b := newBound(verdicts, o)
			compareBindings(b, v1.ServiceMonitorResource, slices.Values(all), monitorStatus)
			names := func(changes []bindings.Change) (out []string) {
				for _, c := range changes {
					out = append(out, c.Object.Name)
				}
				return out
			}
			if set, removed := names(b.set), names(b.removed); !slices.Equal(set, tc.set) || !slices.Equal(removed, tc.removed) {
				t.Errorf("set %v, removed %v", set, removed)
			}
		})
	}
}

// BenchmarkCompareBindings is the work of a pass after which nothing has to be written.
func BenchmarkCompareBindings(b *testing.B) {
	o := bindings.Owner{Resource: "prometheuses", Namespace: "monitoring", Name: "k8s"}
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			all, verdicts := boundMonitors(n, o)
			var seq iter.Seq[*v1.ServiceMonitor] = slices.Values(all)
			b.ReportAllocs()
			for b.Loop() {
				bound := newBound(verdicts, o)
				compareBindings(bound, v1.ServiceMonitorResource, seq, monitorStatus)
				if len(bound.set)+len(bound.removed) > 0 {
					b.Fatal("something is written")
				}
			}
		})
	}
}

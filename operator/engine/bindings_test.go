package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
)

// boundMonitors returns n monitors in order that the owner has accepted, with matching results.
func boundMonitors(n int, o bindings.Workload) (all []*v1.ServiceMonitor, results []fragments.Result) {
	for i := range n {
		m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("m%05d", i), Generation: 3, ResourceVersion: "1"}}
		change, _ := bindings.Bind(bindings.Object{Generation: 3}, o, nil, now)
		m.Status = *change.Status
		all = append(all, m)
		results = append(results, fragments.Result{Kind: v1.ServiceMonitorKind, Object: m})
	}
	return all, results
}

func newBound(o bindings.Workload) *bound {
	return &bound{
		writer: bindings.NewWriter(func(context.Context, bindings.Change) (bindings.Written, error) {
			return bindings.Written{}, errors.New("nothing is written here")
		}),
		owner: o, now: now,
	}
}

// sorted returns monitors as the objects of a store.
func sorted(all []*v1.ServiceMonitor) iter.Seq[catalog.Object] {
	return func(yield func(catalog.Object) bool) {
		for _, m := range all {
			if !yield(m) {
				return
			}
		}
	}
}

func TestCompareBindings(t *testing.T) {
	o := bindings.Workload{Resource: "prometheuses", Namespace: "monitoring", Name: "k8s"}
	for name, tc := range map[string]struct {
		change       func(all []*v1.ServiceMonitor, results []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result)
		set, removed []string
	}{
		"nothing": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			return a, v
		}, nil, nil},
		"one is rejected": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			v[2].Err = errors.New("bad")
			return a, v
		}, []string{"m00002"}, nil},
		"one is not selected": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			return a, slices.Delete(v, 1, 2)
		}, nil, []string{"m00001"}},
		"none is selected": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			return a, nil
		}, nil, []string{"m00000", "m00001", "m00002", "m00003"}},
		"one is gone": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			return slices.Delete(a, 0, 1), v
		}, nil, nil},
		"one is new": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			a[3].Status.Bindings = nil
			return a, v
		}, []string{"m00003"}, nil},
		"one is newer than it": {func(a []*v1.ServiceMonitor, v []fragments.Result) ([]*v1.ServiceMonitor, []fragments.Result) {
			a[1] = a[1].DeepCopy()
			a[1].Generation = 4
			return a, v
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all, results := tc.change(boundMonitors(4, o))
			b := newBound(o)
			b.compare(catalog.ServiceMonitor, sorted(all), allBound(results))
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

// BenchmarkCompareBindings measures a reconciliation after which no binding must be written.
func BenchmarkCompareBindings(b *testing.B) {
	o := bindings.Workload{Resource: "prometheuses", Namespace: "monitoring", Name: "k8s"}
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			all, results := boundMonitors(n, o)
			seq := sorted(all)
			b.ReportAllocs()
			for b.Loop() {
				bound := newBound(o)
				bound.compare(catalog.ServiceMonitor, seq, allBound(results))
				if len(bound.set)+len(bound.removed) > 0 {
					b.Fatal("something is written")
				}
			}
		})
	}
}

func allBound(results []fragments.Result) (out []boundResult) {
	for _, v := range results {
		out = append(out, boundResultOf(v))
	}
	return out
}

// TestRejectionsShareText: what many workloads reject takes the memory of one text.
func TestRejectionsShareText(t *testing.T) {
	of := func() boundResult {
		return boundResultOf(fragments.Result{Object: &v1.ServiceMonitor{}, Err: fmt.Errorf("spec.jobLabel: %s", strings.Repeat("x", 1000))})
	}
	one, other := of(), of()
	if text := one.err.Error(); text != other.err.Error() || unsafe.StringData(text) != unsafe.StringData(other.err.Error()) || len(text) < 1000 {
		t.Errorf("%q and %q", text, other.err)
	}
}

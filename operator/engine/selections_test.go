package engine

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
)

// manyMonitors is a cluster that counts the passes over its objects.
type manyMonitors struct {
	Cluster
	monitors []*v1.ServiceMonitor
	input    selectionInput
	mu       sync.Mutex
	passes   int
}

func newManyMonitors(monitors int) *manyMonitors {
	s := &manyMonitors{}
	for i := range monitors {
		s.monitors = append(s.monitors, &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint(i), Labels: labels.Set{"i": fmt.Sprint(i % 2)}}})
	}
	slices.SortFunc(s.monitors, func(a, b *v1.ServiceMonitor) int { return len(a.Name) - len(b.Name) })
	s.Cluster = Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		Objects: func(string) iter.Seq[catalog.Object] {
			s.mu.Lock()
			s.passes++
			s.mu.Unlock()
			return func(yield func(catalog.Object) bool) {
				for _, m := range s.monitors {
					if !yield(m) {
						return
					}
				}
			}
		},
		selections: &selections{current: func(string) selectionInput { return s.input }},
	}
	return s
}

func (s *manyMonitors) selected(t *testing.T, own string, namespaces, objects *metav1.LabelSelector) int {
	rule, err := selection.Parse(own, "serviceMonitor", namespaces, objects)
	if err != nil {
		t.Fatal(err)
	}
	return len(Selected[*v1.ServiceMonitor](s.Cluster, selection.Rules{v1.ServiceMonitorKind: rule}, catalog.ServiceMonitor))
}

// TestWorkloadsSelectTogether: the objects are gone through once per change, however many workloads select them.
func TestWorkloadsSelectTogether(t *testing.T) {
	for _, workloads := range []int{10, 50, 200} {
		s := newManyMonitors(100)
		for change := 1; change <= 3; change++ {
			s.input.objects++
			var wg sync.WaitGroup
			for range workloads {
				wg.Go(func() {
					if n := s.selected(t, "any", &metav1.LabelSelector{}, &metav1.LabelSelector{}); n != 100 {
						t.Errorf("%d selected", n)
					}
				})
			}
			wg.Wait()
			if s.passes != change {
				t.Errorf("%d workloads: %d passes over the objects for %d changes", workloads, s.passes, change)
			}
		}
	}
}

func TestSelectionsAreKeptApart(t *testing.T) {
	s := newManyMonitors(100)
	all, odd := &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"i": "1"}}
	for _, tc := range []struct {
		what                string
		own                 string
		namespaces, objects *metav1.LabelSelector
		want, passes        int
		change              func()
	}{
		{"all", "a", all, all, 100, 1, nil},
		{"again", "b", all, all, 100, 1, nil},
		{"by label", "a", all, odd, 50, 2, nil},
		{"own namespace", "a", nil, all, 100, 3, nil},
		{"another's own namespace", "b", nil, all, 0, 4, nil},
		{"no selector", "a", all, nil, 0, 4, nil},
		{"a later version", "a", all, all, 99, 5, func() { s.monitors = s.monitors[1:]; s.input.objects++ }},
		{"labels of namespaces", "a", all, all, 99, 6, func() { s.input.namespaces++ }},
	} {
		if tc.change != nil {
			tc.change()
		}
		if n := s.selected(t, tc.own, tc.namespaces, tc.objects); n != tc.want || s.passes != tc.passes {
			t.Errorf("%s: %d selected, want %d; %d passes, want %d", tc.what, n, tc.want, s.passes, tc.passes)
		}
	}
}

func TestSelectionsAreDroppedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newManyMonitors(1)
		s.selected(t, "a", nil, &metav1.LabelSelector{})
		time.Sleep(selectionsHold + time.Second)
		synctest.Wait()
		if s.selections.held != nil {
			t.Error("they hold objects although nothing is reconciled")
		}
	})
}

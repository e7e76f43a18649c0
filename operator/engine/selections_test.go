package engine

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
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

// countedMonitor counts how often its labels are read.
type countedMonitor struct {
	*v1.ServiceMonitor
	looks *int
}

func (m countedMonitor) GetLabels() map[string]string {
	*m.looks++
	return m.ServiceMonitor.GetLabels()
}

// editedMonitors is a sorted list of monitors that knows all of its changes.
type editedMonitors struct {
	list  []catalog.Object
	edits []informer.Edit
}

func (e *editedMonitors) SortedSince(seq uint64) ([]catalog.Object, uint64, []informer.Edit, bool) {
	return slices.Clone(e.list), uint64(len(e.edits)), e.edits[min(int(seq), len(e.edits)):], true
}

// TestSelectionLooksAtChangesOnly: a selection among many objects only looks at those that have changed since the last
// one, and selects what one from scratch does.
func TestSelectionLooksAtChangesOnly(t *testing.T) {
	const monitors = 500
	random := rand.New(rand.NewPCG(1, 2))
	all, looks, labeled := &editedMonitors{}, 0, map[string]bool{"a": true, "b": true}
	next := 0
	fresh := func(namespace, name string) catalog.Object {
		return countedMonitor{&v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: labels.Set{"odd": fmt.Sprint(random.IntN(2))},
		}}, &looks}
	}
	add := func() {
		next++
		m := fresh([]string{"a", "b", "c"}[random.IntN(3)], fmt.Sprintf("%04d", random.IntN(10000)*10000+next))
		at, _ := slices.BinarySearchFunc(all.list, m, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
		all.list, all.edits = slices.Insert(all.list, at, m), append(all.edits, informer.Edit{Op: informer.Inserted, At: at})
	}
	for range monitors {
		add()
	}
	input := selectionInput{store: all}
	c := Cluster{
		NamespaceLabels: func(name string) (labels.Set, bool) { return labels.Set{"selected": fmt.Sprint(labeled[name])}, true },
		Objects:         func(string) iter.Seq[catalog.Object] { return slices.Values(slices.Clone(all.list)) },
		namespaces: func(yield func(string, labels.Set) bool) {
			for _, name := range []string{"a", "b", "c"} {
				if !yield(name, labels.Set{"selected": fmt.Sprint(labeled[name])}) {
					return
				}
			}
		},
		selections: &selections{current: func(string) selectionInput { return input }},
	}
	in, odd := &metav1.LabelSelector{MatchLabels: map[string]string{"selected": "true"}}, &metav1.LabelSelector{MatchLabels: map[string]string{"odd": "1"}}
	rule, err := selection.Parse("a", "serviceMonitor", in, odd)
	if err != nil {
		t.Fatal(err)
	}
	check := func(round, most int) {
		t.Helper()
		input.objects++
		looks = 0
		got := Selected[catalog.Object](c, selection.Rules{v1.ServiceMonitorKind: rule}, catalog.ServiceMonitor)
		if looks > most {
			t.Errorf("round %d: %d objects are looked at for %d changes", round, looks, most)
		}
		if want := selectedIn[catalog.Object](c, rule, catalog.ServiceMonitor); !slices.Equal(got, want) {
			t.Fatalf("round %d: %d objects are selected, want %d", round, len(got), len(want))
		}
	}
	check(0, monitors)
	for round := range 300 {
		changes := random.IntN(5)
		for range changes {
			at := random.IntN(len(all.list))
			switch random.IntN(3) {
			case 0:
				add()
			case 1:
				all.list, all.edits = slices.Delete(all.list, at, at+1), append(all.edits, informer.Edit{Op: informer.Removed, At: at})
			default:
				all.list[at], all.edits = fresh(all.list[at].GetNamespace(), all.list[at].GetName()), append(all.edits, informer.Edit{Op: informer.Replaced, At: at})
			}
		}
		check(round+1, changes)
		if round%100 == 99 {
			labeled["c"] = !labeled["c"]
			input.namespaces++
			check(round+1, len(all.list))
		}
	}
}

// TestPositionsAreBounded: rules that are no longer used do not keep positions in memory.
func TestPositionsAreBounded(t *testing.T) {
	var p positions
	for i := range 100 {
		p.note(p.take(positionsKey{"ServiceMonitor", fmt.Sprint(i)}), mostPositions/10)
	}
	if _, last := p.of[positionsKey{"ServiceMonitor", "99"}]; len(p.of) > 10 || !last {
		t.Errorf("%d rules are kept, the last one: %v", len(p.of), last)
	}
	large := p.take(positionsKey{"ServiceMonitor", "large"})
	p.note(large, mostPositions)
	p.note(large, 1) // it is no longer kept
	if p.total != 0 || len(p.of) != 0 {
		t.Errorf("%d positions of %d rules are kept", p.total, len(p.of))
	}
	for i := range mostPositions/ruleWeight + 100 {
		p.note(p.take(positionsKey{"ServiceMonitor", fmt.Sprint(i)}), 0)
	}
	if len(p.of) > mostPositions/ruleWeight || p.total > mostPositions {
		t.Errorf("%d rules without objects are kept", len(p.of))
	}
}

// TestLongSelectorsAreNotKept: a tenant who writes ever new selectors of hundreds of kilobytes into a Prometheus does not
// fill the memory with what they selected.
func TestLongSelectorsAreNotKept(t *testing.T) {
	budgettest.Exact(t)
	all := &editedMonitors{}
	input := selectionInput{store: all}
	c := Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		namespaces:      func(func(string, labels.Set) bool) {},
		selections:      &selections{current: func(string) selectionInput { return input }},
	}
	_, _, kept := budgettest.Measure(func() *selections {
		for change := range 60 {
			selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "NotIn"}}}
			for i := range 20_000 {
				selector.MatchExpressions[0].Values = append(selector.MatchExpressions[0].Values, fmt.Sprintf("%d-%d", change, i))
			}
			rule, err := selection.Parse("a", "serviceMonitor", &metav1.LabelSelector{}, selector)
			if err != nil {
				t.Fatal(err)
			}
			Selected[catalog.Object](c, selection.Rules{v1.ServiceMonitorKind: rule}, catalog.ServiceMonitor)
		}
		return c.selections
	})
	if kept > 1<<20 {
		t.Errorf("%d bytes are kept for 60 selectors", kept)
	}
}

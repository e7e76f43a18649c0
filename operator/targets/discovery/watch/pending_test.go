package watch

import (
	"runtime"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/compact"
)

// newFilled returns a subscription to one of two namespaces of a view that is not complete.
func newFilled() (*view, *Subscription) {
	v := &view{groups: map[string]map[string]entry{"demo": {"pod/demo/a": {}}, "other": {"pod/other/a": {}}}, subs: map[string]map[*Subscription]int{}}
	s := &Subscription{leases: []*lease{{view: v}}, scopes: [][]string{{"demo"}}, wake: func() {}, all: map[int]bool{}, changed: map[change]struct{}{}}
	v.subscribe(s, 0, s.scopes[0])
	return v, s
}

// Once the view is complete, all of its groups can be taken.
func TestCompleteIsTaken(t *testing.T) {
	for range 5000 {
		v, s := newFilled()
		v.table = &compact.Table{}
		var synced sync.WaitGroup
		synced.Go(v.setSynced)
		for s.Filling() {
			runtime.Gosched()
		}
		n := 0
		if takeAll(s, func(string, *targetgroup.Group) { n++ }); n != 1 {
			t.Fatalf("%d groups", n)
		}
		synced.Wait()
	}
}

// Changes can be counted while a view marks them.
func TestPendingWhileMarked(t *testing.T) {
	v, s := newFilled()
	if n := s.Pending(); n != 0 {
		t.Errorf("%d changes before the view is complete", n)
	}
	v.setSynced()
	if n := s.Pending(); n != 1 {
		t.Errorf("%d changes in namespace demo", n)
	}
	var both sync.WaitGroup
	both.Go(func() {
		for range 20_000 {
			v.setSynced()
		}
	})
	both.Go(func() {
		for range 20_000 {
			s.Pending()
		}
	})
	both.Wait()
	s.mark(change{0, "pod/demo/a"})
	if all, changed := s.unmark(); len(all) != 1 || len(changed) != 0 {
		t.Errorf("a group is marked twice: %v, %v", all, changed)
	}
}

package watch

import (
	"sync"
	"testing"
)

// Changes can be counted while a view marks them.
func TestPendingWhileMarked(t *testing.T) {
	v := &view{groups: map[string]map[string]entry{"demo": {"pod/demo/a": {}}, "other": {"pod/other/a": {}}}, subs: map[string]map[*Subscription]int{}}
	s := &Subscription{leases: []*lease{{view: v}}, scopes: [][]string{{"demo"}}, wake: func() {}, all: map[int]bool{}, changed: map[change]struct{}{}}
	v.subscribe(s, 0, s.scopes[0])
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

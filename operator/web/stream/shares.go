package stream

import "sync"

// Shares divides a number of places among groups of callers: a group may have at most as many as it leaves
// free. So one group gets at most half, two get three quarters, and there is always a place for another. The
// zero value has no places. It is safe for concurrent use.
type Shares struct {
	most int

	mu    sync.Mutex
	taken int
	of    map[string]int // by group
}

// NewShares returns most places.
func NewShares(most int) *Shares { return &Shares{most: most, of: map[string]int{}} }

// Take takes a place until leave is called. ok is false if the group has its share.
func (s *Shares) Take(group string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[group] >= s.most-s.taken {
		return nil, false
	}
	s.of[group]++
	s.taken++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken--
		if s.of[group]--; s.of[group] == 0 {
			delete(s.of, group)
		}
	}, true
}

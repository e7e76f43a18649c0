package stream

import "testing"

// Even if one or two groups use as many places as they can, another one gets a place.
func TestShares(t *testing.T) {
	s := NewShares(20)
	var leave []func()
	for _, want := range []struct {
		group string
		n     int
	}{{"a", 10}, {"b", 5}, {"c", 3}, {"d", 1}, {"a", 0}, {"e", 1}} {
		n := 0
		for {
			end, ok := s.Take(want.group)
			if !ok {
				break
			}
			leave = append(leave, end)
			n++
		}
		if n != want.n {
			t.Errorf("%s has %d more, want %d", want.group, n, want.n)
		}
	}
	for _, end := range leave {
		end()
	}
	if s.taken != 0 || len(s.of) != 0 {
		t.Errorf("%d are taken, by %v", s.taken, s.of)
	}
}

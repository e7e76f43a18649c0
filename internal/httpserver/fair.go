package httpserver

import (
	"slices"
	"sync"
)

// fair limits the number of members. Above the limit, the oldest member of the group with the most members must leave,
// so that one group cannot exclude the others. Among groups of equal size it is the oldest of all, which is the least
// likely to be waited for. It is safe for concurrent use.
type fair[M comparable] struct {
	most int

	mu      sync.Mutex
	in      int
	entered uint64
	by      map[string][]member[M] // by group, oldest first
}

type member[M comparable] struct {
	it     M
	number uint64 // in the order of entering
}

func newFair[M comparable](most int) *fair[M] {
	return &fair[M]{most: most, by: map[string][]member[M]{}}
}

// enter adds a member and returns the one that must leave, if any, which is then no longer a member.
func (f *fair[M]) enter(group string, m M) (loser M, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entered++
	f.by[group] = append(f.by[group], member[M]{m, f.entered})
	if f.in++; f.in <= f.most {
		return loser, false
	}
	most := group
	for name, all := range f.by {
		if n := len(f.by[most]); len(all) > n || len(all) == n && all[0].number < f.by[most][0].number {
			most = name
		}
	}
	loser = f.by[most][0].it
	f.remove(most, loser)
	return loser, true
}

// leave removes a member, if it is still one.
func (f *fair[M]) leave(group string, m M) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(group, m)
}

func (f *fair[M]) remove(group string, m M) {
	all := f.by[group]
	i := slices.IndexFunc(all, func(one member[M]) bool { return one.it == m })
	if i < 0 {
		return
	}
	f.in--
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(f.by, group)
		return
	}
	f.by[group] = all
}

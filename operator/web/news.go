package web

import (
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// news are pending changes, without duplicates.
type news struct {
	more chan struct{} // has an element if changes may be pending

	mu    sync.Mutex
	order []readers.Change
	known map[readers.Change]bool
	lost  bool // there were too many changes
}

func newNews() *news {
	return &news{more: make(chan struct{}, 1), known: map[readers.Change]bool{}}
}

// add never blocks.
func (n *news) add(c readers.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known[c]:
		return
	case len(n.order) >= mostWaiting:
		n.lost = true
	default:
		n.order, n.known[c] = append(n.order, c), true
	}
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// take returns the pending changes; whole is false if some were lost.
func (n *news) take() (all []readers.Change, whole bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, n.order = n.order, nil
	clear(n.known)
	return all, !n.lost
}

// putBack appends changes that were taken to the pending ones.
func (n *news) putBack(changes []readers.Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range changes {
		if !n.known[c] {
			n.order, n.known[c] = append(n.order, c), true
		}
	}
	n.lost = n.lost || len(n.order) > mostWaiting
}

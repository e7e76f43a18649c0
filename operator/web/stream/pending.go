package stream

import (
	"sync"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Pending are the changes that a stream has not sent yet, without duplicates. It is safe for
// concurrent use.
type Pending struct {
	// More has an element if changes may be pending.
	More <-chan struct{}

	more chan struct{}
	most int

	mu    sync.Mutex
	order []readers.Change
	known map[readers.Change]bool
	lost  bool // there were too many changes
}

// NewPending keeps up to most changes.
func NewPending(most int) *Pending {
	more := make(chan struct{}, 1)
	return &Pending{More: more, more: more, most: most, known: map[readers.Change]bool{}}
}

// Add adds a change. It never blocks.
func (p *Pending) Add(c readers.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.known[c]:
		return
	case len(p.order) >= p.most:
		p.lost = true
	default:
		p.order, p.known[c] = append(p.order, c), true
	}
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// Take removes and returns the pending changes; lost is true if some were dropped since the last
// call.
func (p *Pending) Take() (all []readers.Change, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, lost = p.order, p.lost
	p.order, p.lost = nil, false
	clear(p.known)
	return all, lost
}

// PutBack appends changes that were taken to the pending ones.
func (p *Pending) PutBack(changes []readers.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range changes {
		if !p.known[c] {
			p.order, p.known[c] = append(p.order, c), true
		}
	}
	p.lost = p.lost || len(p.order) > p.most
}

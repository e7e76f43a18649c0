package controller

import (
	"slices"
	"sync"
)

// Calls counts lists and watches for the controllers that read the stores which
// make them: a store may serve several. The zero value and nil count for none.
type Calls struct {
	mu      sync.Mutex
	readers []*Metrics
}

// CallsOf counts for one controller.
func CallsOf(m *Metrics) *Calls { return &Calls{readers: []*Metrics{m}} }

// CountFor counts later calls for one more controller.
func (c *Calls) CountFor(m *Metrics) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers = append(c.readers, m)
}

func (c *Calls) listed(err error) {
	for _, m := range c.all() {
		m.lists.count(err)
	}
}

func (c *Calls) watched(err error) {
	for _, m := range c.all() {
		m.watches.count(err)
	}
}

func (c *Calls) all() []*Metrics {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.readers)
}

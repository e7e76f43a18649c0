package informer

import (
	"slices"
	"sync"
)

// Counter counts the lists and watches of one controller; err is nil on success.
type Counter interface {
	Listed(err error)
	Watched(err error)
}

// Calls counts lists and watches for the controllers that read the stores, because a
// store may serve several. The zero value and nil count nothing.
type Calls struct {
	mu      sync.Mutex
	readers []Counter
}

// CallsOf returns a Calls that counts for one controller.
func CallsOf(m Counter) *Calls { return &Calls{readers: []Counter{m}} }

// CountFor counts later calls for another controller as well.
func (c *Calls) CountFor(m Counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers = append(c.readers, m)
}

func (c *Calls) listed(err error) {
	for _, m := range c.all() {
		m.Listed(err)
	}
}

func (c *Calls) watched(err error) {
	for _, m := range c.all() {
		m.Watched(err)
	}
}

func (c *Calls) all() []Counter {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.readers)
}

package scene

import (
	"io"
	"net"
	"sync"
)

// Connections are open connections that can be cut all at once. The zero value has none. It is safe for concurrent use.
type Connections struct {
	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

// Keep registers a connection. While connections are cut it closes it and returns false.
func (c *Connections) Keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		_ = conn.Close() // it is not used
		return false
	}
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	c.open[conn] = true
	return true
}

// Drop closes a connection.
func (c *Connections) Drop(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = conn.Close() // both sides are at their end
	delete(c.open, conn)
}

// Join copies between two connections until either is closed. from has what was read of a ahead of b.
func (c *Connections) Join(a net.Conn, from io.Reader, b net.Conn) {
	var wait sync.WaitGroup
	wait.Go(func() {
		_, _ = io.Copy(b, from) // ends when either side closes
		c.Drop(b)
	})
	_, _ = io.Copy(a, b)
	c.Drop(a)
	wait.Wait()
}

// Cut closes all connections and refuses new ones, or accepts them again. Data in flight is lost.
func (c *Connections) Cut(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if cut {
		for conn := range c.open {
			_ = conn.Close() // what is under way is lost, as it should be
		}
	}
}

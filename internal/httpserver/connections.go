package httpserver

import (
	"net"
	"slices"
	"sync"
)

// fairListener limits the number of open connections. Above the limit it closes the oldest
// connection of the address that has the most, so that one client cannot evict the
// connections of others.
type fairListener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open int
	by   map[string][]*fairConn // by address, oldest first
}

// Accept implements [net.Listener].
func (l *fairListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		host = c.RemoteAddr().String()
	}
	out := &fairConn{Conn: c, of: l, host: host}
	if loser := l.enter(out); loser != nil {
		_ = loser.Close() // evicted in any case
	}
	return out, nil
}

// enter counts a connection and returns the one to evict, if any.
func (l *fairListener) enter(c *fairConn) (loser *fairConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by[c.host] = append(l.by[c.host], c)
	if l.open++; l.open <= l.most {
		return nil
	}
	most := c.host
	for host, all := range l.by {
		if len(all) > len(l.by[most]) {
			most = host
		}
	}
	return l.by[most][0]
}

func (l *fairListener) leave(c *fairConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.by[c.host]
	if i := slices.Index(all, c); i >= 0 {
		l.open--
		if all = slices.Delete(all, i, i+1); len(all) == 0 {
			delete(l.by, c.host)
			return
		}
		l.by[c.host] = all
	}
}

// fairConn is a connection that is counted until it is closed.
type fairConn struct {
	net.Conn
	of   *fairListener
	host string
}

// Close implements [net.Conn].
func (c *fairConn) Close() error {
	c.of.leave(c)
	return c.Conn.Close()
}

package httpserver

import (
	"net"
	"slices"
	"sync"
)

// fairListener bounds the connections that are open at a time. When there are too many, the
// address with the most of them loses its oldest: many connections of one caller close none
// of another.
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
		_ = loser.Close() // it is gone either way
	}
	return out, nil
}

// enter counts a connection, and returns the one that has to go for it, if one has.
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

// fairConn is one that is counted until it is closed.
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

package httpserver

import "net"

// fairListener limits the number of open connections, fairly by address.
type fairListener struct {
	net.Listener
	open *fair[*fairConn]
}

// Accept implements [net.Listener].
func (l *fairListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	out := &fairConn{Conn: c, of: l.open, host: hostOf(c.RemoteAddr().String())}
	if loser, full := l.open.enter(out.host, out); full {
		_ = loser.Close() // evicted in any case
	}
	return out, nil
}

// hostOf returns the host of an address with a port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// fairConn is a connection that is counted until it is closed.
type fairConn struct {
	net.Conn
	of   *fair[*fairConn]
	host string
}

// Close implements [net.Conn].
func (c *fairConn) Close() error {
	c.of.leave(c.host, c)
	return c.Conn.Close()
}

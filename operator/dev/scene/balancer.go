package scene

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
)

// Balancer is the Service of the discovery service as a pod reaches it: a proxy for https that connects to a replica,
// whether it is ready or not. Close ends it.
type Balancer struct {
	// URL is the value of HTTPS_PROXY.
	URL string

	pick     func() string
	listener net.Listener
	wait     sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// NewBalancer starts a balancer. pick returns the host:port of a replica for each connection.
func NewBalancer(pick func() string) (*Balancer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Balancer{URL: "http://" + l.Addr().String(), pick: pick, listener: l, conns: map[net.Conn]bool{}}
	b.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.wait.Go(func() { b.serve(c) })
		}
	})
	return b, nil
}

// Close closes all connections.
func (b *Balancer) Close() {
	_ = b.listener.Close() // of a listener on loopback
	b.Cut(true)
	b.wait.Wait()
}

// serve serves CONNECT.
func (b *Balancer) serve(from net.Conn) {
	defer b.drop(from)
	if !b.keep(from) {
		return
	}
	in := bufio.NewReader(from)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	to, err := net.Dial("tcp", b.pick())
	if err != nil || !b.keep(to) {
		_, _ = io.WriteString(from, "HTTP/1.1 502 Bad Gateway\r\n\r\n") // the client may have gone
		return
	}
	defer b.drop(to)
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	b.wait.Go(func() {
		_, _ = io.Copy(to, in) // ends when either side closes
		b.drop(to)
	})
	_, _ = io.Copy(from, to)
}

func (b *Balancer) keep(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut {
		_ = c.Close() // it is not used
		return false
	}
	b.conns[c] = true
	return true
}

func (b *Balancer) drop(c net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = c.Close() // both sides are at their end
	delete(b.conns, c)
}

// Cut closes all connections and refuses new ones, or accepts them again.
func (b *Balancer) Cut(cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = cut
	for c := range b.conns {
		_ = c.Close() // what is under way is lost, as it should be
	}
}

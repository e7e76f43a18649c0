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

	Connections

	pick     func() string
	listener net.Listener
	wait     sync.WaitGroup
}

// NewBalancer starts a balancer. pick returns the host:port of a replica for each connection.
func NewBalancer(pick func() string) (*Balancer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Balancer{URL: "http://" + l.Addr().String(), pick: pick, listener: l}
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
	defer b.Drop(from)
	if !b.Keep(from) {
		return
	}
	in := bufio.NewReader(from)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	to, err := net.Dial("tcp", b.pick())
	if err != nil || !b.Keep(to) {
		_, _ = io.WriteString(from, "HTTP/1.1 502 Bad Gateway\r\n\r\n") // the client may have gone
		return
	}
	defer b.Drop(to)
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	b.Join(from, in, to)
}

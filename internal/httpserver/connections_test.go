package httpserver

import (
	"net"
	"testing"
)

// Above the limit, the address with the most connections loses one.
func TestFairListener(t *testing.T) {
	l := newFair[*fairConn](4)
	conn := func(host string) *fairConn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return &fairConn{Conn: ours, of: l, host: host}
	}
	first := conn("10.0.0.1")
	for _, c := range []*fairConn{first, conn("10.0.0.1"), conn("10.0.0.1"), conn("10.0.0.2")} {
		if _, full := l.enter(c.host, c); full {
			t.Fatal("a connection was lost below the limit")
		}
	}
	second := conn("10.0.0.2")
	if loser, _ := l.enter(second.host, second); loser != first {
		t.Fatalf("%+v lost", loser)
	}
	if err := first.Close(); err != nil || l.in != 4 {
		t.Errorf("%v, %d open", err, l.in)
	}
	if _ = first.Close(); l.in != 4 {
		t.Error("closed twice, counted twice")
	}
	for _, host := range []string{"10.0.0.1", "10.0.0.2"} {
		for len(l.by[host]) > 0 {
			_ = l.by[host][0].it.Close()
		}
	}
	if l.in != 0 || len(l.by) != 0 {
		t.Errorf("%d open, %v", l.in, l.by)
	}
}

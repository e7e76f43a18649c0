package httpserver

import (
	"net"
	"testing"
)

// Above the limit, the address with the most connections loses one.
func TestFairListener(t *testing.T) {
	l := &fairListener{most: 4, by: map[string][]*fairConn{}}
	conn := func(host string) *fairConn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return &fairConn{Conn: ours, of: l, host: host}
	}
	first := conn("10.0.0.1")
	for _, c := range []*fairConn{first, conn("10.0.0.1"), conn("10.0.0.1"), conn("10.0.0.2")} {
		if l.enter(c) != nil {
			t.Fatal("a connection was lost below the limit")
		}
	}
	if loser := l.enter(conn("10.0.0.2")); loser != first {
		t.Fatalf("%+v lost", loser)
	}
	if err := first.Close(); err != nil || l.open != 4 {
		t.Errorf("%v, %d open", err, l.open)
	}
	if _ = first.Close(); l.open != 4 {
		t.Error("closed twice, counted twice")
	}
	for _, host := range []string{"10.0.0.1", "10.0.0.2"} {
		for len(l.by[host]) > 0 {
			_ = l.by[host][0].Close()
		}
	}
	if l.open != 0 || len(l.by) != 0 {
		t.Errorf("%d open, %v", l.open, l.by)
	}
}

package ports

import (
	"net"
	"testing"
)

func TestLeasedPortsAreNotLeasedAgain(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		l, err := Take(5)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		for _, p := range l.Ports {
			if seen[p] || p < firstPort || p > lastPort {
				t.Errorf("port %d: leased before: %v", p, seen[p])
			}
			seen[p] = true
		}
	}
}

func TestTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	if err := Taken(port); err == nil {
		t.Error("does not see a listener on loopback")
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Taken(port); err != nil {
		t.Errorf("port is free again, but: %v", err)
	}
}

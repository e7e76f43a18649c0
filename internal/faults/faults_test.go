package faults

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	var l List
	l.Add("a", nil)
	if l.Any() || l.Err() != nil {
		t.Error("nothing is an error")
	}
	l.Add("", errors.New("whole"))
	l.Add("a[0]", errors.Join(io.EOF, In("b", errors.Join(errors.New("x"), errors.New("y")))))
	if got, want := l.Err().Error(), "whole\na[0]: EOF\na[0]: b: x\na[0]: b: y"; got != want {
		t.Errorf("got %q", got)
	}
	if !errors.Is(l.Err(), io.EOF) || len(Leaves(l.Err())) != 4 {
		t.Error("a cause is lost")
	}
	for i := range 100 {
		l.Add("more", fmt.Errorf("%d", i))
	}
	if n := strings.Count(l.Err().Error(), "\n") + 1; n != Most || !l.Full() {
		t.Errorf("%d are kept", n)
	}
}

// An error that quotes a megabyte is truncated.
func TestLongFaults(t *testing.T) {
	var l List
	for range Most {
		l.Add("a", fmt.Errorf("%w: %s", io.EOF, strings.Repeat("x", 1<<20)))
	}
	if text := l.Err().Error(); len(text) > Most*(MostBytes+10) || !strings.HasPrefix(text, "a: EOF: xxx") {
		t.Errorf("%d bytes: %.20s", len(text), text)
	}
}

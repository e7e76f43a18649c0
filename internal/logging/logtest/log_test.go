package logtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestBrief(t *testing.T) {
	var l Log
	for i := range 5 {
		fmt.Fprintf(&l, "ts=1 level=debug msg=%d\nts=1 level=info msg=%d\n", i, i)
	}
	fmt.Fprintln(&l, "panic: fault")
	if got, want := l.Brief(3), "3 of 11 lines:\nts=1 level=info msg=3\nts=1 level=info msg=4\npanic: fault"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := l.Brief(100), "6 of 11 lines:\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q…", got, want)
	}
	fmt.Fprintln(&l, strings.Repeat("ä", 1000))
	if got := l.Brief(1); len(got) > 330 || !strings.HasSuffix(got, "ä …") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

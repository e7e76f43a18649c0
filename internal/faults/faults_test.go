package faults

import (
	"cmp"
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
	l.Add("a[0]", errors.Join(io.EOF, At("b", errors.Join(errors.New("x"), errors.New("y")))))
	if got, want := l.Err().Error(), "whole\na[0]: EOF\na[0].b: x\na[0].b: y"; got != want {
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

// place is an error type of another package that knows its field.
func TestUnion(t *testing.T) {
	err := Union(errors.Join(At("a", io.EOF), At("b", io.EOF)), nil, At("a", io.EOF))
	if err.Error() != "a: EOF\nb: EOF" || Union(nil, nil) != nil {
		t.Errorf("got %v", err)
	}
}

type place struct{ field string }

func (p place) Error() string { return p.field + ": is wrong" }

func (p place) Located() (field, reason string) { return p.field, "is wrong" }

func TestAt(t *testing.T) {
	if At("a", nil) != nil {
		t.Error("nothing is an error")
	}
	for _, tc := range []struct {
		err  error
		want Finding
		text string
	}{
		{At("spec", At("endpoints[0]", At("basicAuth.username", At("name", io.EOF)))),
			Finding{Field: "spec.endpoints[0].basicAuth.username.name", Reason: "EOF", Cause: io.EOF}, ""},
		{At("spec.groupBy", At(Index("", 2), io.EOF)), Finding{Field: "spec.groupBy[2]", Reason: "EOF", Cause: io.EOF}, ""},
		{At("spec", place{"endpoints[0]"}), Finding{Field: "spec.endpoints[0]", Reason: "is wrong", Cause: place{"endpoints[0]"}}, ""},
		{At(Key("labels", `a"b`), io.EOF), Finding{Field: `labels["a\"b"]`, Reason: "EOF", Cause: io.EOF}, ""},
		{At("", io.EOF), Finding{Reason: "EOF", Cause: io.EOF}, "EOF"},
		{io.EOF, Finding{Reason: "EOF", Cause: io.EOF}, "EOF"},
	} {
		all := Of(tc.err)
		if len(all) != 1 || all[0] != tc.want {
			t.Errorf("got %+v, want %+v", all, tc.want)
		}
		if want := cmp.Or(tc.text, tc.want.Field+": "+tc.want.Reason); tc.err.Error() != want {
			t.Errorf("got %q, want %q", tc.err, want)
		}
	}
	text := fmt.Errorf("conflicts with the class: %w", At("regex", io.EOF))
	if got := At("scheme", text); got.Error() != "scheme: conflicts with the class: regex: EOF" || !errors.Is(got, io.EOF) {
		t.Errorf("text between two fields is lost: %v", got)
	}
	if got := At(strings.Repeat("x", 1<<20), io.EOF).Error(); len(got) > PathBytes+10 {
		t.Errorf("a path of %d bytes", len(got))
	}
}

func TestReword(t *testing.T) {
	err := Reword(errors.Join(At("a", io.EOF), At("b", io.ErrUnexpectedEOF)), func(f *Finding) { f.Reason += " (class)" })
	if err.Error() != "a: EOF (class)\nb: unexpected EOF (class)" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if Reword(nil, func(*Finding) {}) != nil {
		t.Error("nothing is an error")
	}
}

package stream

import (
	"fmt"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

func changed(name string) readers.Change {
	return readers.Change{Kind: readers.ObjectChanged, Object: catalog.Ref{Kind: "Probe", Namespace: "demo", Name: name}}
}

// An object that changes often is pending once, also while it is put back.
func TestOnce(t *testing.T) {
	p := NewPending(10)
	for range 100 {
		p.Add(changed("web"))
	}
	all, lost := p.Take()
	if len(all) != 1 || lost || len(p.More) != 1 {
		t.Errorf("%d changes, lost: %t", len(all), lost)
	}
	p.Add(all[0])
	p.PutBack(all)
	if again, lost := p.Take(); len(again) != 1 || lost {
		t.Errorf("%d changes were put back, lost: %t", len(again), lost)
	}
}

// Changes beyond the limit are lost, which is reported once.
func TestLost(t *testing.T) {
	p := NewPending(10)
	for i := range 11 {
		p.Add(changed(fmt.Sprint(i)))
	}
	all, lost := p.Take()
	if len(all) != 10 || !lost {
		t.Errorf("%d changes, lost: %t", len(all), lost)
	}
	if _, lost := p.Take(); lost {
		t.Error("lost again")
	}
	p.Add(changed("a"))
	p.PutBack(all)
	if all, lost := p.Take(); len(all) != 11 || !lost {
		t.Errorf("%d changes, lost: %t", len(all), lost)
	}
}

package queue

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A namespace with hundreds of slow workloads delays the workload of another one by the two that are
// being processed, each time it changes.
func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{First: time.Second, Last: time.Minute})
		hostile := func() {
			for i := range 300 {
				q.Add(types.NamespacedName{Namespace: "hostile", Name: fmt.Sprint(i)})
			}
		}
		hostile()
		w := &work{do: func(context.Context, types.NamespacedName) { time.Sleep(time.Second) }}
		stop := w.run(t, q, 2)
		good := types.NamespacedName{Namespace: "good", Name: "main"}
		var added []time.Duration
		for range 10 {
			time.Sleep(7500 * time.Millisecond)
			hostile()
			q.Add(good)
			added = append(added, time.Since(w.start))
		}
		time.Sleep(10 * time.Second)
		stop()
		for i, at := range w.at["main"] {
			if waited := at - added[i]; waited > time.Second {
				t.Errorf("change %d waited %s", i, waited)
			}
		}
		if len(w.at["main"]) != len(added) {
			t.Errorf("processed at %v, added at %v", w.at["main"], added)
		}
	})
}

// Every key is returned once, those of a namespace in the order in which they were added.
func TestTurns(t *testing.T) {
	q := newTurns()
	name := func(text string) types.NamespacedName {
		return types.NamespacedName{Namespace: text[:1], Name: text[1:]}
	}
	for _, text := range []string{"a1", "a2", "a3", "b1", "c1", "c2"} {
		q.Push(name(text))
	}
	var got []string
	pop := func() {
		key := q.Pop()
		got = append(got, key.Namespace+key.Name)
	}
	pop()
	pop()
	q.Push(name("b2"))
	q.Touch(name("a3"))
	for q.Len() > 0 {
		pop()
	}
	if want := []string{"a1", "b1", "c1", "a2", "b2", "c2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(q.waiting) > 0 {
		t.Errorf("%v is left", q.waiting)
	}
}

package readers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

func changeOf(name string) readers.Change {
	return readers.Change{Kind: readers.ObjectChanged, Object: catalog.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: name}}
}

// Changes of one object that are still pending are merged into one, in the order of their first
// occurrences. A change after delivery is delivered again.
func TestBroadcasterTellsOnce(t *testing.T) {
	var b readers.Broadcaster
	ctx, end := context.WithCancel(t.Context())
	told, goOn, ended := make(chan readers.Change), make(chan struct{}), make(chan error)
	go func() {
		ended <- b.Changes(ctx, func(c readers.Change) {
			told <- c
			<-goOn
		})
	}()
	next := func() string {
		t.Helper()
		c := <-told
		goOn <- struct{}{}
		return c.Object.Name
	}
	// Nothing is delivered before it listens, so the first change is repeated.
	first := func() readers.Change {
		for {
			b.Send(changeOf("first"))
			select {
			case c := <-told:
				return c
			default:
			}
		}
	}
	if c := first(); c != changeOf("first") {
		t.Fatalf("got %v", c)
	}
	for range 100 { // while it is busy
		b.Send(changeOf("a"))
		b.Send(changeOf("b"))
	}
	goOn <- struct{}{}
	var got []string
	for len(got) == 0 || got[len(got)-1] != "last" {
		if name := next(); name != "first" {
			got = append(got, name)
		}
		if len(got) == 2 {
			b.Send(changeOf("last"))
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "last"}, got); diff != "" {
		t.Error(diff)
	}
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// Sending does not wait for listeners.
func TestBroadcasterDoesNotWait(t *testing.T) {
	var b readers.Broadcaster
	ctx, end := context.WithCancel(t.Context())
	busy, ended := make(chan struct{}, 1), make(chan error)
	go func() {
		ended <- b.Changes(ctx, func(readers.Change) {
			select {
			case busy <- struct{}{}:
			default:
			}
			<-ctx.Done()
		})
	}()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := 0; len(busy) == 0; i++ {
			b.Send(changeOf(fmt.Sprint(i % 10)))
		}
		for i := range 10_000 {
			b.Send(changeOf(fmt.Sprint(i)))
		}
	}()
	select {
	case <-sent:
	case <-time.After(time.Minute):
		t.Error("Send waits for a listener")
	}
	end()
	<-ended
}

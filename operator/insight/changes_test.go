package insight_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/online"
)

func changeOf(name string) insight.Change {
	return insight.Change{Kind: insight.ObjectChanged, Object: explain.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: name}}
}

// What changes again before it was told is told once, in the order of the first changes; what
// changes later is told again.
func TestBroadcasterTellsOnce(t *testing.T) {
	var b insight.Broadcaster
	ctx, end := context.WithCancel(t.Context())
	told, goOn, ended := make(chan insight.Change), make(chan struct{}), make(chan error)
	go func() {
		ended <- b.Changes(ctx, func(c insight.Change) {
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
	// Until it listens, nothing is told: the first change is repeated.
	first := func() insight.Change {
		for {
			b.Tell(changeOf("first"))
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
		b.Tell(changeOf("a"))
		b.Tell(changeOf("b"))
	}
	goOn <- struct{}{}
	var got []string
	for len(got) == 0 || got[len(got)-1] != "last" {
		if name := next(); name != "first" {
			got = append(got, name)
		}
		if len(got) == 2 {
			b.Tell(changeOf("last"))
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

// A reader without watches cannot tell of changes, and says so.
func TestChangesNeedAFeed(t *testing.T) {
	s := loaded(t, cluster(1, 1))
	if err := answers(t, s, nil).Changes(t.Context(), func(insight.Change) {}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
	fed := struct {
		online.Reader
		*insight.Broadcaster
	}{s, &insight.Broadcaster{}}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := answers(t, fed, nil).Changes(ctx, func(insight.Change) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// However many listen, telling does not wait for them.
func TestBroadcasterDoesNotWait(t *testing.T) {
	var b insight.Broadcaster
	ctx, end := context.WithCancel(t.Context())
	busy, ended := make(chan struct{}, 1), make(chan error)
	go func() {
		ended <- b.Changes(ctx, func(insight.Change) {
			select {
			case busy <- struct{}{}:
			default:
			}
			<-ctx.Done()
		})
	}()
	for i := 0; len(busy) == 0; i++ {
		b.Tell(changeOf(fmt.Sprint(i % 10)))
	}
	for i := range 10_000 {
		b.Tell(changeOf(fmt.Sprint(i)))
	}
	end()
	<-ended
}

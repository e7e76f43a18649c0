package delivery

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var pod = types.NamespacedName{Namespace: "monitoring", Name: "prometheus-k8s-0"}

// cluster records patches and provides the pod's state.
type cluster struct {
	mu     sync.Mutex
	values []string
	err    error
	answer Answer
}

func (c *cluster) annotate(_ context.Context, _, _, _, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = append(c.values, value)
	return c.err
}

func (c *cluster) Disk(types.NamespacedName, string) Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

func (c *cluster) Expect(types.NamespacedName) {}

func (c *cluster) says(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *cluster) patched() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.values...)
}

// run executes scenario with a running nudger and a fake clock.
func run(t *testing.T, c *cluster, scenario func(n *Nudger)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := New(c.annotate, c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		done := make(chan struct{})
		go func() { n.Run(ctx, 2); close(done) }()
		scenario(n)
		cancel()
		<-done
	})
}

func wait(d time.Duration) {
	time.Sleep(d) // fake clock of the synctest bubble
	synctest.Wait()
}

func TestPatchesAtOnceAndOnceWhenConfirmed(t *testing.T) {
	c := &cluster{answer: Confirmed}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(time.Millisecond)
		if diff := cmp.Diff([]string{"aa"}, c.patched()); diff != "" {
			t.Error(diff)
		}
		n.Deliver(pod, "aa")
		wait(time.Hour)
		if diff := cmp.Diff([]string{"aa"}, c.patched()); diff != "" {
			t.Error("after an hour:", diff)
		}
	})
}

func TestRepeatsUntilTheLimitWithoutConfirmation(t *testing.T) {
	c := &cluster{answer: Missing}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(time.Hour)
		if diff := cmp.Diff([]string{"aa", "aa-2", "aa-3", "aa-4", "aa-5"}, c.patched()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAPodThatCannotBeQueriedIsPatchedTwice(t *testing.T) {
	c := &cluster{answer: Unknown}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(time.Hour)
		if diff := cmp.Diff([]string{"aa", "aa-2"}, c.patched()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFastChangesAreDeliveredTogetherAndTheLastWins(t *testing.T) {
	c := &cluster{answer: Confirmed}
	run(t, c, func(n *Nudger) {
		for _, h := range []string{"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"} {
			n.Deliver(pod, h)
			wait(time.Millisecond)
		}
		if diff := cmp.Diff([]string{"aa", "bb", "cc", "dd", "ee"}, c.patched()); diff != "" {
			t.Error("at once:", diff)
		}
		wait(burst * spacing)
		if diff := cmp.Diff([]string{"aa", "bb", "cc", "dd", "ee", "hh"}, c.patched()); diff != "" {
			t.Error("later:", diff)
		}
	})
}

// A pending repetition for an old content does not cause another patch of a pod that was just
// patched for the next one: needless patches delay later changes.
func TestARepetitionIsOfItsOwnContent(t *testing.T) {
	c := &cluster{answer: Unknown} // not queried yet
	run(t, c, func(n *Nudger) {
		want := []string{}
		for i := range 4 {
			hash := string(rune('a' + i))
			n.Deliver(pod, hash)
			want = append(want, hash)
			wait(1250 * time.Millisecond)
		}
		if diff := cmp.Diff(want, c.patched()); diff != "" {
			t.Error(diff)
		}
		wait(patience)
		if diff := cmp.Diff(append(want, "d-2"), c.patched()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestForbiddenPutsOff(t *testing.T) {
	c := &cluster{err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name, nil), answer: Confirmed}
	other := types.NamespacedName{Namespace: pod.Namespace, Name: "prometheus-k8s-1"}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(forbiddenPause / 3)
		n.Deliver(pod, "bb")
		n.Deliver(other, "bb")
		wait(forbiddenPause / 3)
		if diff := cmp.Diff([]string{"aa"}, c.patched()); diff != "" {
			t.Errorf("before the pause is over: %s", diff)
		}
		wait(forbiddenPause)
		if got := len(c.patched()); got < 2 || got > 3 { // each worker may have one attempt
			t.Errorf("patched %v, want another try after the pause", c.patched())
		}
		c.says(nil)
		before := len(c.patched())
		wait(2 * forbiddenPause)
		if diff := cmp.Diff([]string{"bb", "bb"}, c.patched()[before:]); diff != "" {
			t.Errorf("with permission: %s", diff)
		}
	})
}

func TestForbiddenIsAboutOneNamespace(t *testing.T) {
	c := &cluster{err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name, nil), answer: Confirmed}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(time.Second)
		c.says(nil)
		n.Deliver(types.NamespacedName{Namespace: "other", Name: "prometheus-x-0"}, "xx")
		wait(time.Second)
		if diff := cmp.Diff([]string{"aa", "xx"}, c.patched()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestForgetsPodsThatAreGone(t *testing.T) {
	c := &cluster{err: apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod.Name)}
	run(t, c, func(n *Nudger) {
		n.Deliver(pod, "aa")
		wait(time.Minute)
		if len(c.patched()) != 1 || len(n.pods) != 0 {
			t.Errorf("patched %v, remembers %d pods", c.patched(), len(n.pods))
		}
	})
}

func TestCarries(t *testing.T) {
	for value, want := range map[string]bool{"aa": true, "aa-2": true, "": false, "ab": false, "aab": false} {
		if got := Carries(value, "aa"); got != want {
			t.Errorf("Carries(%q) = %v", value, got)
		}
	}
}

package informer

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
)

func in(namespace string, from, to int) (out []types.NamespacedName) {
	for i := from; i < to; i++ {
		out = append(out, types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("s%05d", i)})
	}
	return out
}

// A namespace with very many names does not delay the others, and the rate of API calls stays within Pace.
func TestNamesAreReadInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var names []types.NamespacedName // initially empty
		s := &services{permitted: []string{"get"}, versions: map[string]string{}}
		_, _ = s.polled(t, ctx, Poll{
			Every: time.Minute, Pace: flowcontrol.NewTokenBucketRateLimiter(50, 50),
			Names: func(context.Context) ([]types.NamespacedName, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return slices.Clone(names), nil
			},
		}, nil)
		synctest.Wait()
		s.called()
		s.set(func() { names = in("demo", 0, 10000) })
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		var calls int
		if _, err := fmt.Sscanf(s.called(), "[get:%d]", &calls); err != nil || calls < 2500 || calls > 3000 {
			t.Errorf("%d calls in a minute: %v", calls, err)
		}
	})
}

func TestTurn(t *testing.T) {
	n := &byNames{poller: &poller{}, due: map[types.NamespacedName]time.Time{}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := slices.Concat(in("large", 0, 1000), in("small", 0, 2), in("tiny", 0, 1))
	for _, name := range all {
		n.due[name] = now.Add(-time.Minute)
	}
	delete(n.due, all[999])                      // new
	n.due[all[1000]] = now.Add(time.Second)      // not due
	n.due[all[1002]] = now.Add(-time.Hour)       // overdue
	turn := n.turn(append(all, all[0]), now)[:4] // with a duplicate
	want := []types.NamespacedName{all[999], all[1002], all[1001], all[0]}
	if !slices.Equal(turn, want) {
		t.Errorf("turn %v, want %v", turn, want)
	}
	if got := len(n.turn(append(all, all[0]), now)); got != len(all)-1 {
		t.Errorf("%d are due", got)
	}
}

// Forbidden objects are rarely retried, and the object that was read before is kept.
func TestNamesThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		s := &services{permitted: []string{"get"}, versions: map[string]string{"a": "1"}}
		store, events := s.polled(t, ctx, Poll{Every: time.Minute, May: func(context.Context, string, string) (bool, error) { return false, nil }}, nil)
		expect(t, "at first", events(), "add a1")
		expect(t, "calls, none of them in vain", s.called(), "[get:2]")
		a, b, c := types.NamespacedName{Namespace: "demo", Name: "a"}, types.NamespacedName{Namespace: "demo", Name: "b"}, types.NamespacedName{Namespace: "demo", Name: "c"}
		if store.Missing(a) || !store.Missing(b) || store.Missing(c) {
			t.Errorf("missing: %v %v %v", store.Missing(a), store.Missing(b), store.Missing(c))
		}
		s.set(func() { s.permitted = nil })
		time.Sleep(time.Minute)
		expect(t, "when it is refused", events(), "")
		expect(t, "calls", s.called(), "[get:2]")
		if _, ok := store.Get("demo", "a"); !ok || store.Missing(b) {
			t.Error("the store has lost a, or claims to know of b")
		}
		time.Sleep(retryRefused - lookPeriod)
		expect(t, "calls later", s.called(), "[]")
		s.set(func() { s.permitted = []string{"get"} })
		time.Sleep(2 * lookPeriod)
		expect(t, "when it is permitted", events(), "")
		expect(t, "calls then", s.called(), "[get:2]")
		if !store.Missing(b) {
			t.Error("it is not known again that b is missing")
		}
	})
}

// The store of all namespaces watches single namespaces with named objects if permitted.
func TestNamespacesAreWatchedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		open := true
		s := &services{permitted: []string{"get", "list", "watch"}, versions: map[string]string{"a": "1", "other": "2"}}
		poll := Poll{
			Every: time.Minute, Parts: true,
			Names: func(context.Context) ([]types.NamespacedName, error) {
				return []types.NamespacedName{{Namespace: "demo", Name: "a"}}, nil
			},
			May: func(_ context.Context, _, namespace string) (bool, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return open && namespace == "demo", nil
			},
		}
		store, events := s.split(t, ctx, poll)
		expect(t, "at first", events(), "add a1")
		expect(t, "calls", s.called(), "[get:1]")
		time.Sleep(lookPeriod)
		expect(t, "the namespace", events(), "add other2")
		expect(t, "calls", s.called(), "[list:1 watch:1]")
		c := types.NamespacedName{Namespace: "demo", Name: "c"}
		time.Sleep(lookPeriod)
		synctest.Wait()
		if !store.Missing(c) {
			t.Error("the store does not know that c is missing")
		}
		s.watches[0].Modify(service("a", "3"))
		s.watches[0].Add(service("c", "4"))
		s.watches[0].Delete(service("other", "5"))
		expect(t, "the watch", events(), "add c4, delete other5, update a3")
		s.called()
		time.Sleep(time.Hour)
		expect(t, "calls while it watches", s.called(), "[]")

		// A watch that ends is resumed; if that fails, it starts with a list.
		s.set(func() { s.versions = map[string]string{"a": "6"} })
		s.watches[0].Action("ERROR", &metav1.Status{Code: 410})
		time.Sleep(partRetry)
		expect(t, "what it missed", events(), "delete c4, update a6")

		// Without permission to watch, the named object is read by get.
		s.set(func() {
			s.permitted, open, s.versions = []string{"get"}, false, map[string]string{"a": "7", "other": "8"}
		})
		s.watches[1].Stop()
		time.Sleep(2 * time.Minute)
		expect(t, "by name", events(), "update a7")
		if store.Missing(c) {
			t.Error("the store claims to know of c")
		}
	})
}

// split starts a store of the Services in all namespaces; only one namespace has some.
func (s *services) split(t *testing.T, ctx context.Context, poll Poll) (store *Store[*corev1.Service], events func() string) {
	t.Helper()
	return s.run(t, ctx, "", poll, nil)
}

// If the permission to list is lost, and there is no permission to watch, the objects stay in the store, and no object
// is known to be missing.
func TestListIsRefusedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		s := &services{permitted: []string{"list"}, versions: map[string]string{"a": "1"}}
		store, events := s.polled(t, ctx, Poll{Every: time.Minute}, nil)
		expect(t, "at first", events(), "add a1")
		c := types.NamespacedName{Namespace: "demo", Name: "c"}
		if !store.Missing(c) {
			t.Error("a complete list does not have c, which is not known to be missing")
		}
		s.set(func() { s.permitted = nil })
		for range 600 {
			time.Sleep(time.Second)
			synctest.Wait()
			if _, has := store.Get("demo", "a"); !has {
				t.Fatal("a is not in the store any more")
			}
		}
		if store.Missing(c) {
			t.Error("c is said to be missing")
		}
	})
}

package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// services is an API server with Services and permissions.
type services struct {
	mu        sync.Mutex
	permitted []string          // permitted verbs
	versions  map[string]string // by name
	watches   []*watch.FakeWatcher
	calls     []string
	broken    error // returned as the error of all calls
}

func (s *services) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// called returns and clears the recorded calls with their counts.
func (s *services) called() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, c := range s.calls {
		count[c]++
	}
	s.calls = nil
	return strings.TrimPrefix(fmt.Sprint(count), "map")
}

func (s *services) answer(verb string) error {
	s.calls = append(s.calls, verb)
	if s.broken != nil {
		return s.broken
	}
	if !slices.Contains(s.permitted, verb) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "", errors.New("no "+verb))
	}
	return nil
}

func service(name, version string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name, ResourceVersion: version}}
}

func (s *services) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &corev1.ServiceList{}
	for name, version := range s.versions {
		out.Items = append(out.Items, *service(name, version))
	}
	return out, s.answer("list")
}

func (s *services) watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answer("watch"); err != nil {
		return nil, err
	}
	if o.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil) // like old API servers
	}
	w := watch.NewFake()
	s.watches = append(s.watches, w)
	return w, nil
}

func (s *services) get(_ context.Context, name types.NamespacedName) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answer("get"); err != nil {
		return nil, err
	}
	version, ok := s.versions[name.Name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, name.Name)
	}
	return service(name.Name, version), nil
}

// only returns a source with the same objects in each namespace.
func only[T Object](api *cache.ListWatch, example T, get getter) source[T] {
	return source[T]{in: func(string) *cache.ListWatch { return api }, get: get, example: example}
}

// polled starts a store of the Services a and b.
func (s *services) polled(t *testing.T, ctx context.Context, poll Poll, reads *Reads) (store *Store[*corev1.Service], events func() string) {
	t.Helper()
	if poll.Names == nil {
		poll.Names = func(context.Context) ([]types.NamespacedName, error) {
			return []types.NamespacedName{{Namespace: "demo", Name: "a"}, {Namespace: "demo", Name: "b"}}, nil
		}
	}
	return s.run(t, ctx, "demo", poll, reads)
}

// run starts a store of Services in one namespace, or in all if it is empty.
func (s *services) run(t *testing.T, ctx context.Context, namespace string, poll Poll, reads *Reads) (store *Store[*corev1.Service], events func() string) {
	t.Helper()
	store = newStore[*corev1.Service]("services", Watch{})
	lw := &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	store.add(Watch{Poll: &poll, Reads: reads}, namespace, only(lw, &corev1.Service{}, s.get))
	var mu sync.Mutex
	var seen []string
	if err := store.OnChange(func(e Event[*corev1.Service]) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e.Action+" "+e.Object().Name+e.Object().ResourceVersion)
	}); err != nil {
		t.Fatal(err)
	}
	store.Run(ctx)
	return store, func() string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		out := slices.Sorted(slices.Values(seen))
		seen = nil
		return strings.Join(out, ", ")
	}
}

// expect compares got and want.
func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestPollWithoutWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		permitted []string
		first     string // calls
		each      string // calls of one poll
	}{
		"list": {[]string{"list"}, "[list:1 watch:1]", "[list:1]"},
		"get":  {[]string{"get"}, "[get:2 list:1]", "[get:2]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer func() { cancel(); synctest.Wait() }()
				s := &services{permitted: tc.permitted, versions: map[string]string{"a": "1"}}
				store, events := s.polled(t, ctx, Poll{Every: time.Minute}, nil)
				expect(t, "at first", events(), "add a1")
				expect(t, "first calls", s.called(), tc.first)
				s.set(func() { s.versions = map[string]string{"a": "2", "b": "3"} })
				time.Sleep(time.Minute)
				expect(t, "after a change", events(), "add b3, update a2")
				expect(t, "calls of a poll", s.called(), tc.each)
				time.Sleep(time.Minute)
				expect(t, "without a change", events(), "")
				s.set(func() { s.broken = errors.New("away") })
				time.Sleep(time.Minute)
				expect(t, "while the API server is away", events(), "")
				s.set(func() { s.broken, s.versions = nil, map[string]string{"b": "3"} })
				time.Sleep(time.Minute)
				expect(t, "after a deletion", events(), "delete a2")
				if _, ok := store.Get("demo", "a"); ok {
					t.Error("the store still has it")
				}
			})
		})
	}
}

func TestPollIsFasterWhileChangesAreExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		s := &services{permitted: []string{"list"}}
		var busy bool
		_, events := s.polled(t, ctx, Poll{Every: time.Minute, Soon: 5 * time.Second, Busy: func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return busy
		}}, nil)
		expect(t, "at first", events(), "")
		s.called()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		expect(t, "two idle minutes", s.called(), "[list:2]")
		s.set(func() { busy = true })
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "a busy minute", s.called(), "[list:12]")
	})
}

// The store adapts to permissions that are granted or revoked while it runs.
func TestPollFollowsPermissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var log logtest.Log
		s := &services{permitted: []string{"get"}, versions: map[string]string{"a": "1"}}
		store, events := s.polled(t, ctx, Poll{Every: time.Minute}, NewReads(slog.New(slog.NewTextHandler(&log, nil))))
		expect(t, "at first", events(), "add a1")
		s.set(func() { s.permitted = []string{"get", "list", "watch"} })
		time.Sleep(retryWatch + time.Minute)
		expect(t, "watching changes nothing", events(), "")
		s.called()
		s.watches[0].Add(service("b", "2"))
		expect(t, "the watch", events(), "add b2")
		time.Sleep(time.Hour)
		expect(t, "calls while it watches", s.called(), "[]")

		// A deletion while reads are forbidden is noticed later.
		s.set(func() { s.permitted, s.versions = []string{"get"}, map[string]string{"a": "1"} })
		s.watches[0].Stop()
		time.Sleep(2 * time.Minute)
		expect(t, "what the watch missed", events(), "delete b2")
		if _, ok := store.Get("demo", "a"); !ok {
			t.Error("the store has lost what is still there")
		}
		for text, times := range map[string]int{"watch permission granted": 1, "watch permission lost": 1, "level=WARN": 1} {
			if n := strings.Count(log.String(), text); n != times {
				t.Errorf("%d times, want %d: %q in\n%s", n, times, text, &log)
			}
		}
	})
}

// A starting API server forbids everything until it has loaded its roles. The watch resumes soon after that.
func TestPollWatchesAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		all := []string{"get", "list", "watch"}
		s := &services{permitted: all, versions: map[string]string{"a": "1"}}
		_, events := s.polled(t, ctx, Poll{Every: time.Minute}, nil)
		expect(t, "at first", events(), "add a1")
		s.set(func() { s.permitted = nil })
		s.watches[0].Stop()
		time.Sleep(5 * time.Second)
		s.set(func() { s.permitted = all })
		time.Sleep(time.Minute)
		synctest.Wait()
		s.set(func() {
			if len(s.watches) < 2 {
				t.Fatal("it does not watch again")
			}
		})
		events() // a was forbidden for a while
		s.watches[1].Add(service("b", "2"))
		expect(t, "the watch", events(), "add b2")

		s.set(func() { s.permitted = []string{"get", "list"} }) // permanently
		s.watches[1].Stop()
		s.called()
		time.Sleep(time.Hour)
		synctest.Wait()
		s.set(func() {
			if n := strings.Count(strings.Join(s.calls, " "), "watch"); n < 8 || n > 14 {
				t.Errorf("%d attempts to watch in an hour", n)
			}
		})
	})
}

// An object whose get is forbidden is replaced by a placeholder until it is permitted.
func TestPollUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		s := &services{versions: map[string]string{"a": "1"}}
		_, events := s.polled(t, ctx, Poll{
			Every: time.Minute, Unreadable: func(name types.NamespacedName) Object { return service(name.Name, "") },
		}, nil)
		expect(t, "at first", events(), "add a, add b")
		s.set(func() { s.permitted = []string{"get"} })
		time.Sleep(time.Minute)
		expect(t, "with permission", events(), "delete b, update a1")
	})
}

// A store that requires permission to watch logs the missing permission once, and starts when it is granted.
func TestStoreSaysWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); synctest.Wait() }()
		var log logtest.Log
		reads := NewReads(slog.New(slog.NewTextHandler(&log, nil)))
		go reads.Run(ctx)
		s := &services{versions: map[string]string{"a": "1"}}
		store := newStore[*corev1.Service]("services", Watch{})
		lw := &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
		store.add(Watch{Reads: reads}, "demo", only(lw, &corev1.Service{}, nil))
		store.Run(ctx)
		time.Sleep(5 * time.Minute)
		if calls := s.called(); len(calls) > len("[list:00 watch:00]") {
			t.Errorf("calls in five minutes: %s", calls)
		}
		s.set(func() { s.permitted = []string{"list", "watch"} })
		time.Sleep(time.Minute)
		if err := store.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		said := said(&log)
		if len(said) != 2 || !strings.Contains(said[0], "services in namespace demo: ") || !strings.Contains(said[0], "forbidden") || !strings.Contains(said[1], "work again") {
			t.Errorf("said %q", said)
		}
	})
}

package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
)

// scripted returns the configured outcome and counts requests.
type scripted struct {
	mu      sync.Mutex
	answer  Outcome
	reload  time.Time
	silent  string // name prefix of pods that never respond
	asked   int
	changes []Outcome
	watcher *Watcher
	reg     *prometheus.Registry
}

func (s *scripted) ask(ctx context.Context, pod types.NamespacedName, _ Mark, limit time.Duration) (Finding, bool) {
	s.mu.Lock()
	silent := s.silent != "" && strings.HasPrefix(pod.Name, s.silent)
	answer, reload := s.answer, s.reload
	s.asked++
	s.mu.Unlock()
	if !silent {
		return Finding{Outcome: answer, Reload: reload}, true
	}
	select {
	case <-ctx.Done():
	case <-time.After(limit):
	}
	return Finding{Outcome: Outcome{Silent, "it does not answer"}}, false
}

// TestLoaded: Loaded is the wanted content once the pod has confirmed it, until then the previous
// one, and empty for a new pod with the same name.
func TestLoaded(t *testing.T) {
	watch(t, func(s *scripted) {
		start := time.Now()
		for _, step := range []struct {
			when   string
			state  State
			reload time.Time
			mark   Mark
			want   Loaded
		}{
			{"applied", Applied, start, mark("aa"), Loaded{"aa", start}},
			{"on its way", Waiting, start, mark("bb"), Loaded{"aa", start}},
			{"rejected", Refused, start, mark("cc"), Loaded{"aa", start}},
			{"silent", Silent, time.Time{}, mark("dd"), Loaded{"aa", start}},
			{"repaired", Applied, start.Add(time.Hour), Mark{Hash: "ee", Version: "ee", Containers: "2"}, Loaded{"ee", start.Add(time.Hour)}},
			{"recreated", Waiting, time.Time{}, Mark{Hash: "ee", Version: "ee", UID: "2"}, Loaded{}},
			{"nothing tells the content", Reloaded, start, Mark{Hash: "ff", Version: "ff", UID: "2"}, Loaded{"", start}},
		} {
			s.says(step.state)
			s.mu.Lock()
			s.reload = step.reload
			s.mu.Unlock()
			s.watcher.Watch(pod, step.mark)
			wait(time.Minute)
			if got := s.watcher.Loaded(pod); got != step.want {
				t.Errorf("%s: loaded %+v, want %+v", step.when, got, step.want)
			}
		}
		if got := s.watcher.Loaded(types.NamespacedName{Namespace: "demo", Name: "other"}); got != (Loaded{}) {
			t.Errorf("of a pod that nobody watches: %+v", got)
		}
	})
}

func watch(t *testing.T, scenario func(s *scripted)) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{reg: prometheus.NewRegistry()}
		s.watcher = NewWatcher(s.ask, func(p types.NamespacedName) {
			go func() { // asynchronous like a queue
				got := s.watcher.Outcome(p)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.changes = append(s.changes, got)
			}()
		}, s.reg)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { s.watcher.Run(ctx, 4); close(done) }()
		scenario(s)
		cancel()
		<-done
	})
}

func (s *scripted) says(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = Outcome{State: state}
}

// seen returns the reported states of the pod since the last call and the number of requests.
func (s *scripted) seen() (states []State, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.changes {
		states = append(states, c.State)
	}
	asked = s.asked
	s.changes, s.asked = nil, 0
	return states, asked
}

func (s *scripted) expect(t *testing.T, atMost int, want ...State) {
	t.Helper()
	states, asked := s.seen()
	if diff := cmp.Diff(want, states); diff != "" || asked > atMost {
		t.Errorf("asked %d times, at most %d are allowed; told:\n%s", asked, atMost, diff)
	}
}

// mark returns the mark of a content in the one test pod.
func mark(hash string) Mark { return Mark{Hash: hash, Version: hash, UID: "1", Containers: "1"} }

func TestWatcher(t *testing.T) {
	watch(t, func(s *scripted) {
		s.says(Applied)
		s.watcher.Watch(pod, mark("aa"))
		wait(time.Second)
		s.expect(t, 1, Applied)
		s.watcher.Watch(pod, mark("aa"))
		wait(settledLook / 2)
		s.expect(t, 0) // nothing in steady state
		wait(24 * time.Hour)
		s.expect(t, 110) // except for occasional checks

		for range 100 { // a change each second, confirmed at once
			s.watcher.Watch(pod, mark(time.Now().String()))
			wait(time.Second)
		}
		s.expect(t, 100)

		s.says(Refused)
		s.watcher.Watch(pod, mark("bad"))
		wait(time.Second)
		s.expect(t, 1, Refused) // within a second
		wait(time.Hour)
		s.expect(t, 130)

		s.says(Waiting)
		s.watcher.Watch(pod, mark("good")) // the rejection remains until the next definite finding
		if got := s.watcher.Outcome(pod).State; got != Refused {
			t.Errorf("right after the fix: %d", got)
		}
		wait(time.Second)
		s.says(Applied)
		wait(5 * time.Second)
		if states, _ := s.seen(); len(states) == 0 || states[len(states)-1] != Applied {
			t.Errorf("after the fix: %v", states)
		}

		s.says(Waiting)
		s.watcher.Watch(pod, mark("slow"))
		wait(grace - time.Second)
		s.expect(t, 10) // it ran the previous content, and most pods recover quickly
		wait(grace)
		s.expect(t, 10, Waiting)

		s.watcher.Forget(pod)
		wait(time.Hour)
		if got := s.watcher.Outcome(pod); got.State != NotAsked {
			t.Errorf("of a pod that is gone: %v", got)
		}
	})
}

// A pod that has applied a content is queried again, as it may stop running it.
func TestPodsThatAppliedAreQueriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(w *Watcher)
		within  time.Duration
	}{
		"a container starts anew": {func(w *Watcher) {
			m := mark("aa")
			m.Containers = "2"
			w.Watch(pod, m)
		}, time.Second},
		"the content is the same, and lies elsewhere": {func(w *Watcher) {
			m := mark("aa")
			m.Version = "moved"
			w.Watch(pod, m)
		}, time.Second},
		"another pod has the name": {func(w *Watcher) {
			m := mark("aa")
			m.UID = "2"
			w.Watch(pod, m)
		}, time.Second},
		"nothing that the pod's object shows": {func(*Watcher) {}, 2 * settledLook},
	} {
		t.Run(name, func(t *testing.T) {
			watch(t, func(s *scripted) {
				s.says(Applied)
				s.watcher.Watch(pod, mark("aa"))
				wait(time.Second)
				s.expect(t, 1, Applied)
				s.says(Refused)
				tc.happens(s.watcher)
				wait(tc.within)
				if states, _ := s.seen(); len(states) == 0 || states[len(states)-1] != Refused {
					t.Errorf("told %v", states)
				}
			})
		})
	}
}

// A single lost request does not change a pod's outcome.
func TestALostAnswerChangesNothing(t *testing.T) {
	watch(t, func(s *scripted) {
		s.says(Applied)
		s.watcher.Watch(pod, mark("aa"))
		wait(time.Second)
		s.expect(t, 1, Applied)
		s.says(Silent)
		restarted := mark("aa")
		restarted.Containers = "2"
		s.watcher.Watch(pod, restarted)
		wait(time.Second)
		s.says(Applied)
		wait(time.Minute)
		s.expect(t, 3)
	})
}

// Silent pods are remembered: a new content does not cause requests to them.
func TestSilenceIsRemembered(t *testing.T) {
	watch(t, func(s *scripted) {
		s.silent = pod.Name
		s.watcher.Watch(pod, mark("aa"))
		wait(10 * time.Minute)
		s.expect(t, 13, Silent)
		if n, err := testutil.GatherAndCount(s.reg, "prometheus_operator_unreachable_pods"); err != nil || n != 1 || s.watcher.silent() != 1 {
			t.Errorf("%v unreachable pods in the metrics, %v", s.watcher.silent(), err)
		}
		for i := range 60 {
			s.watcher.Watch(pod, mark(fmt.Sprint(i)))
			s.watcher.Expect(pod)
			wait(time.Second)
		}
		s.expect(t, 1)

		s.mu.Lock()
		s.silent, s.answer = "", Outcome{State: Applied}
		s.mu.Unlock()
		m := mark("59")
		m.Containers = "2" // it was restarted, perhaps with a reloader that responds
		s.watcher.Watch(pod, m)
		wait(time.Second)
		s.expect(t, 1, Applied)

		s.silent = pod.Name
		m.Containers = "3"
		s.watcher.Watch(pod, m)
		wait(time.Hour)
		s.mu.Lock()
		s.silent = ""
		s.mu.Unlock()
		s.seen()
		wait(lastSilentLook + time.Minute)
		s.expect(t, 2, Applied) // without a new mark
	})
}

// Thousands of pods behind a network policy must delay neither patches of other pods nor their outcomes.
func TestSilentPodsHoldUpNobody(t *testing.T) {
	watch(t, func(s *scripted) {
		s.silent, s.answer = "silent", Outcome{State: Applied}
		var mu sync.Mutex
		told := map[string]time.Time{}
		n := New(func(_ context.Context, _, pod, _, value string) error {
			mu.Lock()
			defer mu.Unlock()
			told[pod+" "+value] = time.Now()
			return nil
		}, s.watcher, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { n.Run(ctx, 4); close(done) }()

		// initially, all pods count as responsive
		give := func(hash string) {
			for i := range 2000 {
				p := types.NamespacedName{Name: fmt.Sprint("silent-", i)}
				n.Deliver(p, hash)
				s.watcher.Watch(p, mark(hash))
			}
		}
		give("first")
		wait(3 * time.Second)
		at := time.Now()
		n.Deliver(pod, "xx")
		wait(time.Second)
		mu.Lock()
		if after, ok := told[pod.Name+" xx"]; !ok || after.Sub(at) > 100*time.Millisecond {
			t.Errorf("the pod of another owner was told after %v, %v", after.Sub(at), ok)
		}
		mu.Unlock()

		wait(time.Hour) // by now, all silent pods have been detected
		give("second")
		s.watcher.Watch(pod, mark("xx"))
		wait(time.Second)
		if got := s.watcher.Outcome(pod).State; got != Applied {
			t.Errorf("a second later the outcome of another pod is %d", got)
		}
		cancel()
		<-done
	})
}

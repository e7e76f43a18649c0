package delivery

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

func report(file string, target reload.TargetReport) reload.Report {
	return reload.Report{Ready: target.Ready, Targets: []reload.TargetReport{target},
		Current: &reload.Stamped{Content: reload.Content{Files: []reload.FileSum{{InputSHA256: file}}}}}
}

func TestOutcomeOf(t *testing.T) {
	runs := reload.TargetReport{Ready: true}
	fails := func(r reload.Reason, text string) reload.TargetReport {
		return reload.TargetReport{Error: &reload.Failure{Reason: r, Message: text}}
	}
	broken := report("aa", runs)
	broken.InputError = &reload.Failure{Message: "open /etc/x: password hush"}
	rules := reload.Report{Targets: []reload.TargetReport{runs}, Current: &reload.Stamped{Content: reload.Content{Dirs: []volume.DirSum{{Path: "/r", SHA256: "11"}}}}}
	want := Content{Config: "aa", Dirs: map[string]string{"/r": "11"}}
	const log = "the log of its reloader has all of it"
	for name, tc := range map[string]struct {
		reports []reload.Report
		want    Outcome
	}{
		"both run it":                 {[]reload.Report{report("aa", runs), rules}, Outcome{Applied, ""}},
		"nobody answers":              {nil, Outcome{Silent, "its reloaders do not answer"}},
		"other files":                 {[]reload.Report{report("bb", fails(reload.Rejected, "x")), rules}, Outcome{Waiting, "the kubelet has not refreshed its files yet"}},
		"nobody speaks of rules":      {[]reload.Report{report("aa", runs)}, Outcome{Waiting, "the kubelet has not refreshed its files yet"}},
		"a server that starts":        {[]reload.Report{report("aa", fails(reload.NotReady, "503")), rules}, Outcome{Waiting, "the server has not confirmed it yet"}},
		"a server that was not asked": {[]reload.Report{report("aa", reload.TargetReport{}), rules}, Outcome{Waiting, "the server has not confirmed it yet"}},
		"a server that refuses":       {[]reload.Report{report("aa", fails(reload.Rejected, "answered 500: hush")), rules}, Outcome{Refused, "the server refuses it: " + log}},
		"a refusal counts most":       {[]reload.Report{report("aa", fails(reload.NotReady, "503")), {Targets: []reload.TargetReport{fails(reload.Rejected, "error loading rules")}, Current: rules.Current}}, Outcome{Refused, "the server refuses it: a rule does not load (" + log + ")"}},
		"files that make no sense":    {[]reload.Report{broken, rules}, Outcome{Refused, "its reloader cannot use the files: " + log}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcomeOf(tc.reports, want)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// scripted answers what the test says, and counts.
type scripted struct {
	mu      sync.Mutex
	answer  Outcome
	asked   int
	changes []Outcome
	watcher *Watcher
}

func watch(t *testing.T, scenario func(s *scripted)) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		s.watcher = NewWatcher(func(context.Context, types.NamespacedName, string) Outcome {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked++
			return s.answer
		}, func(p types.NamespacedName) {
			go func() { // as a queue does it
				got := s.watcher.Outcome(p)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.changes = append(s.changes, got)
			}()
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { s.watcher.Run(ctx, 2); close(done) }()
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

// seen is what was told of the pod since the last call, and how often it was asked.
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

func TestWatcher(t *testing.T) {
	expect := func(t *testing.T, s *scripted, atMost int, want ...State) {
		t.Helper()
		states, asked := s.seen()
		if diff := cmp.Diff(want, states); diff != "" || asked > atMost {
			t.Errorf("asked %d times, at most %d are allowed; told:\n%s", asked, atMost, diff)
		}
	}
	watch(t, func(s *scripted) {
		s.says(Applied)
		s.watcher.Watch(pod, "aa")
		wait(time.Second)
		expect(t, s, 1, Applied)
		s.watcher.Watch(pod, "aa")
		wait(24 * time.Hour)
		expect(t, s, 0) // nothing in steady state

		for range 100 { // a change each second, confirmed at once
			s.watcher.Watch(pod, time.Now().String())
			wait(time.Second)
		}
		expect(t, s, 100)

		s.says(Refused)
		s.watcher.Watch(pod, "bad")
		wait(time.Second)
		expect(t, s, 1, Refused) // within a second
		wait(time.Hour)
		expect(t, s, 130)

		s.says(Waiting)
		s.watcher.Watch(pod, "good") // the refusal stands until something better is known
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
		s.watcher.Watch(pod, "slow")
		wait(grace - time.Second)
		expect(t, s, 10) // it ran the one before, and most are back soon
		wait(grace)
		expect(t, s, 10, Waiting)

		s.watcher.Forget(pod)
		wait(time.Hour)
		if got := s.watcher.Outcome(pod); got.State != NotAsked {
			t.Errorf("of a pod that is gone: %v", got)
		}
	})
}

package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

var (
	main  = types.NamespacedName{Namespace: "demo", Name: "main"}
	start = time.Date(2026, 1, 31, 12, 0, 3, 0, time.UTC)
	pods  = []types.NamespacedName{{Namespace: "demo", Name: "pod-0"}, {Namespace: "demo", Name: "pod-1"}}
)

func monitor(name string) catalog.Ref {
	return catalog.Ref{Kind: "ServiceMonitor", Namespace: "shop", Name: name}
}

// scene is a log with a clock in milliseconds since start.
type scene struct {
	*Log
	clock   int
	reached []string
}

func newScene() *scene {
	s := &scene{}
	s.Log = New(func(key types.NamespacedName, c Change, r Reached) {
		s.reached = append(s.reached, c.Hash+" "+[]string{"written", "annotated", "finished"}[r])
	})
	s.now = func() time.Time { return at(s.clock) }
	return s
}

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// text returns the changes of main, the last one first, with times in milliseconds.
func (s *scene) text() string {
	var b strings.Builder
	since := func(t time.Time) string {
		if t.IsZero() {
			return "?"
		}
		return fmt.Sprint(t.Sub(start).Milliseconds())
	}
	for _, c := range s.Last(main) {
		var names []string
		for _, o := range c.Objects {
			names = append(names, o.Name)
		}
		fmt.Fprintf(&b, "%s by %s (%d) at %s, started %s, written %s, annotated %d %s, on disk %d %s, loaded %d %s of %d, %d patches", c.Hash, strings.Join(names, " "), c.Events,
			since(c.Noticed), since(c.Started), since(c.Written), c.Annotated.Pods, since(c.Annotated.At),
			c.OnDisk.Pods, since(c.OnDisk.At), c.Loaded.Pods, since(c.Loaded.At), c.Pods, c.Patches)
		if c.Rejected > 0 {
			fmt.Fprintf(&b, ", rejected by %d", c.Rejected)
		}
		if c.Superseded {
			b.WriteString(", superseded")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *scene) shows(t *testing.T, want string) {
	t.Helper()
	if diff := cmp.Diff(want, s.text()); diff != "" {
		t.Error(diff)
	}
}

// write notices an event and writes a content within three milliseconds.
func (s *scene) write(o catalog.Ref, hash string, pods ...types.NamespacedName) {
	s.Notice(o, main)
	s.clock++
	s.Start(main)
	s.clock += 2
	s.Write(main, Content{hash, []Part{{"/config", hash}}}, pods)
}

func TestAChangeReachesItsPods(t *testing.T) {
	s := newScene()
	s.write(monitor("cart"), "aa", pods...)
	s.shows(t, "aa by cart (1) at 0, started 1, written 3, annotated 0 ?, on disk 0 ?, loaded 0 ? of 2, 0 patches\n")
	for i, pod := range pods {
		s.clock = 10 + i
		s.Annotate(main, "aa", pod)
	}
	s.clock = 800
	s.Confirm(main, "aa", pods[0], Confirmed{OnDisk: at(140), Loaded: at(170)})
	s.Confirm(main, "aa", pods[1], Confirmed{OnDisk: at(130)}) // its server is starting
	s.shows(t, "aa by cart (1) at 0, started 1, written 3, annotated 2 11, on disk 2 140, loaded 1 170 of 2, 2 patches\n")
	s.clock = 2300
	s.Annotate(main, "aa", pods[1]) // a repetition
	s.Confirm(main, "aa", pods[1], Confirmed{OnDisk: at(9999), Loaded: at(1500)})
	s.Confirm(main, "aa", pods[1], Confirmed{OnDisk: at(9999), Loaded: at(9999)}) // a later request
	s.shows(t, "aa by cart (1) at 0, started 1, written 3, annotated 2 11, on disk 2 140, loaded 2 1500 of 2, 3 patches\n")
	if diff := cmp.Diff([]string{"aa written", "aa annotated", "aa finished"}, s.reached); diff != "" {
		t.Error(diff)
	}
}

// The first objects are named, each once, and all events counted. Those that arrive during a
// reconciliation belong to the next one, and those of a failed one to its repetition.
func TestWhoseEvents(t *testing.T) {
	s := newScene()
	for _, name := range []string{"a", "b", "a", "c", "d", "a"} {
		s.Notice(monitor(name), main, types.NamespacedName{Name: "other"})
		s.clock++
	}
	s.Start(main)
	s.Notice(monitor("late"), main)
	s.Start(main) // the first has failed
	s.Notice(monitor("next"), main)
	s.Write(main, Content{Hash: "aa"}, nil)
	s.shows(t, "aa by a b c (7) at 0, started 6, written 6, annotated 0 ?, on disk 0 ?, loaded 0 ? of 0, 0 patches\n")

	s.clock = 100
	s.Start(main)
	s.Drop(main) // next changes nothing
	s.write(monitor("last"), "bb")
	if got := s.Last(main)[0]; got.Events != 1 || !got.Noticed.Equal(at(100)) {
		t.Errorf("%+v", got)
	}
	s.Start(main)
	s.Write(main, Content{Hash: "cc"}, nil)
	if got := s.Last(main)[0]; got.Events != 0 || got.Objects != nil || !got.Noticed.Equal(at(103)) {
		t.Errorf("without events: %+v", got)
	}
}

// A pod that has loaded a change tells when it had the ones before. What it does not know of them
// stays open.
func TestTheNextChangeSupersedes(t *testing.T) {
	s := newScene()
	s.write(monitor("a"), "aa", pods...)
	s.clock = 5
	s.Confirm(main, "aa", pods[0], Confirmed{OnDisk: at(2), Loaded: at(9999)}) // a clock that is wrong
	for i, hash := range []string{"bb", "cc", "dd"} {
		s.clock = 400 * (i + 1)
		s.write(monitor("b"), hash, pods...)
	}
	s.clock = 1800
	s.Annotate(main, "aa", pods[1])
	s.Confirm(main, "cc", pods[1], Confirmed{OnDisk: at(1500), Loaded: at(1500)})
	s.Confirm(main, "dd", pods[0], Confirmed{OnDisk: at(1600), Rejected: true})
	s.Confirm(main, "dd", pods[0], Confirmed{OnDisk: at(1600), Loaded: at(1600), Earlier: func(parts []Part, written time.Time) (onDisk, loaded time.Time) {
		switch parts[0].SHA256 {
		case "bb":
			return written.Add(100 * time.Millisecond), written.Add(200 * time.Millisecond)
		case "cc":
			return written.Add(100 * time.Millisecond), time.Time{}
		}
		t.Errorf("asked about %v", parts)
		return
	}})
	s.Confirm(main, "dd", pods[1], Confirmed{OnDisk: at(1700), Loaded: at(1700)}) // has no history
	s.shows(t, "dd by b (1) at 1200, started 1201, written 1203, annotated 0 ?, on disk 2 1700, loaded 2 1700 of 2, 0 patches\n"+
		"cc by b (1) at 800, started 801, written 803, annotated 0 ?, on disk 1 903, loaded 0 ? of 2, 0 patches, superseded\n"+
		"bb by b (1) at 400, started 401, written 403, annotated 0 ?, on disk 1 503, loaded 1 603 of 2, 0 patches, superseded\n"+
		"aa by a (1) at 0, started 1, written 3, annotated 0 ?, on disk 1 3, loaded 1 5 of 2, 0 patches, superseded\n")
	if diff := cmp.Diff([]string{"aa written", "bb written", "cc written", "dd written", "aa finished", "bb finished", "cc finished", "dd finished"}, s.reached); diff != "" {
		t.Error(diff)
	}
	for _, e := range s.workloads[main].changes {
		if e.pending != nil {
			t.Errorf("%s still waits for %v", e.Hash, e.pending)
		}
	}
}

// Changes that no pod can answer for are finished by the next one, and others when they are dropped.
func TestUnansweredChanges(t *testing.T) {
	s := newScene()
	var many []types.NamespacedName
	for i := range maxWaiting + 1 {
		many = append(many, types.NamespacedName{Name: fmt.Sprint(i)})
	}
	s.write(monitor("a"), "many", many...)
	s.write(monitor("a"), "few", pods...)
	s.Start(main)
	s.Write(main, Content{Hash: "no parts"}, pods)
	for i := range maxChanges {
		s.write(monitor("a"), fmt.Sprint(i), pods...)
	}
	finished := slices.DeleteFunc(s.reached, func(r string) bool { return !strings.HasSuffix(r, " finished") })
	if diff := cmp.Diff([]string{"many finished", "no parts finished", "few finished"}, finished); diff != "" {
		t.Error(diff)
	}
}

func TestARejectedChange(t *testing.T) {
	s := newScene()
	s.write(monitor("a"), "aa", pods[0])
	s.clock = 1000
	for range 2 {
		s.Confirm(main, "aa", pods[0], Confirmed{OnDisk: at(50), Loaded: at(-1000), Rejected: true})
	}
	s.shows(t, "aa by a (1) at 0, started 1, written 3, annotated 0 ?, on disk 1 50, loaded 0 ? of 1, 0 patches, rejected by 1\n")
	s.Confirm(main, "aa", pods[0], Confirmed{OnDisk: at(50), Loaded: at(900)}) // the next attempt
	s.shows(t, "aa by a (1) at 0, started 1, written 3, annotated 0 ?, on disk 1 50, loaded 1 900 of 1, 0 patches\n")
}

// A change does not wait for deleted pods. Pods that it does not know change nothing.
func TestDeletedPods(t *testing.T) {
	s := newScene()
	s.write(monitor("a"), "aa", pods...)
	s.Annotate(main, "aa", pods[1])
	s.clock = 50
	s.Confirm(main, "aa", pods[1], Confirmed{OnDisk: at(20), Rejected: true})
	s.Confirm(main, "aa", pods[0], Confirmed{OnDisk: at(20), Loaded: at(30)})
	s.ForgetPod(main, pods[1])
	s.ForgetPod(main, pods[1])
	s.ForgetPod(main, pods[0])
	s.Annotate(main, "aa", pods[1])
	s.Confirm(main, "aa", types.NamespacedName{Name: "new"}, Confirmed{OnDisk: at(99), Loaded: at(99)})
	s.shows(t, "aa by a (1) at 0, started 1, written 3, annotated 0 ?, on disk 1 20, loaded 1 30 of 1, 1 patches\n")
	if got := s.reached[len(s.reached)-1]; got != "aa finished" {
		t.Error(got)
	}
	s.Forget(main)
	s.ForgetPod(main, pods[1])
	s.Drop(main)
	s.Confirm(main, "aa", pods[0], Confirmed{Loaded: at(99)})
	if len(s.workloads) != 0 {
		t.Errorf("%d workloads are remembered", len(s.workloads))
	}
}

// Each workload has its last changes, and fewer if there are many workloads, whatever the others do.
func TestBoundedMemory(t *testing.T) {
	s := newScene()
	key := func(i int) types.NamespacedName { return types.NamespacedName{Name: fmt.Sprint(i)} }
	for i := range 2 * room {
		s.Start(key(i))
		s.Write(key(i), Content{Hash: "first"}, nil)
	}
	for i := range 3 * maxChanges {
		s.write(monitor("busy"), fmt.Sprint(i))
	}
	if got := s.Last(main); len(got) != 1 || got[0].Hash != fmt.Sprint(3*maxChanges-1) {
		t.Errorf("with many workloads, one has %d changes: %+v", len(got), got)
	}
	for i := range 2 * room {
		if got := s.Last(key(i)); len(got) != 1 {
			t.Fatalf("workload %d has %d changes", i, len(got))
		}
		s.Forget(key(i))
	}
	for i := range 3 * maxChanges {
		s.write(monitor("busy"), fmt.Sprint(i))
	}
	if got := s.Last(main); len(got) != maxChanges || cap(s.workloads[main].changes) > 2*maxChanges {
		t.Errorf("alone, it has %d changes", len(got))
	}
	for range 1000 {
		s.Notice(monitor("busy"), main)
	}
	if w := s.workloads[main].waiting; len(w.objects) != 1 || w.events != 1000 {
		t.Errorf("waiting: %+v", w)
	}
	if allocs := testing.AllocsPerRun(100, func() { s.Notice(monitor("busy"), main) }); allocs != 0 {
		t.Errorf("an event allocates %v times", allocs)
	}
}

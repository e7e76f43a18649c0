package apply

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	thing = objectID{"StatefulSet", "ns", "web"}
)

// version returns the state of an object that has a generation.
func version(meta string, generation int64) state { return state{meta, generation} }

// act is an event after a pause: an optional foreign change, and a reconciliation that wants to write want.
type act struct {
	after   time.Duration
	want    string
	foreign func(now state) state // nil: no foreign change
	sameGen bool                  // our write does not change the spec
}

func edits(s state) state      { return version("theirs", s.generation+1) }
func restarts(s state) state   { return version(s.meta, s.generation+1) }
func deletes(state) state      { return state{} }
func signs(s state) state      { return version(s.meta+"'", s.generation) }
func times(n int, a act) []act { return slices.Repeat([]act{a}, n) }

// TestConflicts replays events of an object. For each write, the result is whether it was
// made (+), overwrote a change (!), or was postponed and for how long.
func TestConflicts(t *testing.T) {
	revert := act{time.Second, "a", edits, false}
	for name, tc := range map[string]struct {
		acts []act
		want string
	}{
		"one edit":                        {append([]act{{0, "a", nil, false}}, revert), "+ !"},
		"as many as are undone at once":   {append([]act{{0, "a", nil, false}}, times(5, revert)...), "+ ! ! ! ! !"},
		"more":                            {append([]act{{0, "a", nil, false}}, times(6, revert)...), "+ ! ! ! ! ! 1s"},
		"more, the pause is over":         {append(append([]act{{0, "a", nil, false}}, times(6, revert)...), act{time.Second, "a", nil, false}), "+ ! ! ! ! ! 1s !"},
		"each pause is longer":            {append(append([]act{{0, "a", nil, false}}, times(6, revert)...), revert, revert, act{2 * time.Second, "a", nil, false}, revert), "+ ! ! ! ! ! 1s ! 2s ! 4s"},
		"deleted again and again":         {append([]act{{0, "a", nil, false}}, times(6, act{time.Second, "a", deletes, false})...), "+ ! ! ! ! ! 1s"},
		"only metadata":                   {append([]act{{0, "a", nil, false}}, times(6, act{time.Second, "a", signs, true})...), "+ ! ! ! ! ! 1s"},
		"edits with time between":         {append([]act{{0, "a", nil, false}}, times(9, act{3 * time.Minute, "a", edits, false})...), "+ ! ! ! ! ! ! ! ! !"},
		"rollout restarts":                {append([]act{{0, "a", nil, false}}, times(9, act{time.Second, "a", restarts, true})...), "+ + + + + + + + + +"},
		"our own second write":            {append([]act{{0, "a", nil, false}}, times(9, act{0, "a", nil, true})...), "+ + + + + + + + + +"},
		"a webhook changes each write":    {append([]act{{0, "a", nil, false}}, times(7, act{time.Second, "a", nil, false})...), "+ + + + + + 1s +"},
		"a user who changes the workload": {[]act{{0, "a", nil, false}, {0, "b", nil, false}, {0, "c", nil, false}, {0, "d", nil, false}, {0, "e", nil, false}, {0, "f", nil, false}, {0, "g", nil, false}}, "+ + + + + + +"},
		"… also during a conflict":        {append(append([]act{{0, "a", nil, false}}, times(6, revert)...), act{0, "b", nil, false}, act{time.Second, "b", edits, false}), "+ ! ! ! ! ! 1s + 1s"},
		"… and its new hash":              {append(append([]act{{0, "a", nil, false}}, times(6, revert)...), act{0, "b", nil, false}, act{0, "b", nil, true}), "+ ! ! ! ! ! 1s + +"},
		"the conflict has ended":          {append(append([]act{{0, "a", nil, false}}, times(6, revert)...), act{time.Second, "a", nil, false}, act{time.Minute, "a", edits, false}), "+ ! ! ! ! ! 1s ! !"},
	} {
		t.Run(name, func(t *testing.T) {
			c := conflicts{overwrote: func(string) {}}
			now, live := began, version("theirs", 1)
			var got []string
			for _, a := range tc.acts {
				now = now.Add(a.after)
				if a.foreign != nil {
					live = a.foreign(live)
				}
				if turn := c.before(thing, sha256.Sum256([]byte(a.want)), live, now); turn.wait > 0 {
					if turn.begins {
						c.name(thing, "them")
					}
					got = append(got, turn.wait.String())
					continue
				}
				live.meta = fmt.Sprint("ours ", a.want, len(got)) // with another hash each time
				if !a.sameGen {
					live.generation++
				}
				mark := "+"
				if c.wrote(thing, live, now, now) {
					mark = "!"
				}
				got = append(got, mark)
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("writes: %s, want %s", text, tc.want)
			}
		})
	}
}

// TestOwnRecreations deletes and creates an object, as changes of immutable fields do.
func TestOwnRecreations(t *testing.T) {
	c := conflicts{overwrote: func(string) {}}
	now, live := began, state{}
	for i := range 20 {
		if turn := c.before(thing, sha256.Sum256([]byte("a")), live, now); turn.wait > 0 {
			t.Fatalf("write %d waits %s", i, turn.wait)
		}
		if live = (state{}); i%2 == 0 {
			live = version("ours", int64(1+i))
		}
		c.wrote(thing, live, now, now)
	}
}

// duel lets two operators compete for a time. Each of them reconciles after a write of
// the other and after its own pause. It returns the times of the writes.
func duel(t *testing.T, lasts time.Duration) (writes []time.Duration, sides [2]*conflicts, ended time.Time) {
	t.Helper()
	live, now := version("", 1), began
	sides = [2]*conflicts{{}, {}}
	for now.Sub(began) < lasts {
		next := lasts
		for i, side := range sides {
			if live.meta == fmt.Sprint(i) {
				continue // already as wanted
			}
			turn := side.before(thing, sha256.Sum256([]byte{byte(i)}), live, now)
			if turn.begins {
				side.name(thing, "them")
			}
			if turn.wait > 0 {
				next = min(next, turn.wait)
				continue
			}
			live = version(fmt.Sprint(i), live.generation+1)
			side.wrote(thing, live, now, now)
			writes = append(writes, now.Sub(began))
			next = 10 * time.Millisecond
		}
		now = now.Add(next)
	}
	return writes, sides, now
}

func TestTwoOperatorsSlowDown(t *testing.T) {
	writes, sides, now := duel(t, 24*time.Hour)
	in := func(from, to time.Duration) (n int) {
		for _, w := range writes {
			if w >= from && w < to {
				n++
			}
		}
		return n
	}
	if n := in(0, 10*time.Second); n > 22 {
		t.Errorf("%d writes in the first 10 s", n)
	}
	if n := in(time.Minute, 2*time.Minute); n > 4 {
		t.Errorf("%d writes in the second minute", n)
	}
	// The conflict persists: one of them writes every five minutes.
	for h := time.Hour; h < 24*time.Hour; h += time.Hour {
		if n := in(h, h+time.Hour); n > 13 || n < 10 {
			t.Errorf("%d writes in hour %s", n, h)
		}
	}
	for i, side := range sides {
		if n := side.count(now); n != 1 {
			t.Errorf("operator %d knows of %d conflicts", i, n)
		}
	}
}

func TestAConflictIsReportedOnceAndEnds(t *testing.T) {
	_, sides, now := duel(t, 3*time.Second)
	c, ok := sides[0].at(thing, now)
	if !ok || !c.New || c.Kind != "StatefulSet" || c.Name != "web" || c.By != "them" || c.Wait > 10*time.Second {
		t.Fatalf("%#v, %v", c, ok)
	}
	if c.Since.Before(began) || c.Since.After(now) {
		t.Errorf("since %s", c.Since)
	}
	again, ok := sides[0].at(thing, now.Add(time.Second))
	if !ok || again.New {
		t.Errorf("%+v, %v", again, ok)
	}
	// The other operator has stopped, so that our next write remains.
	pause := sides[0].before(thing, sha256.Sum256([]byte{0}), version("1", 99), now).wait
	now = now.Add(pause)
	if wait := sides[0].before(thing, sha256.Sum256([]byte{0}), version("1", 99), now).wait; wait > 0 {
		t.Errorf("still waits %s after the pause", wait)
	}
	sides[0].wrote(thing, version("0", 100), now, now)
	c, ok = sides[0].at(thing, now)
	if !ok {
		t.Fatal("over at once")
	}
	if _, ok := sides[0].at(thing, now.Add(c.Wait-time.Second)); !ok {
		t.Error("over before its time")
	}
	if _, ok := sides[0].at(thing, now.Add(c.Wait+time.Millisecond)); ok {
		t.Error("it does not end")
	}
	if c.Wait > 30*time.Second {
		t.Errorf("an early conflict takes %s to end", c.Wait)
	}
}

// The other client may stop by itself and leave the object as wanted. There is then
// nothing to write after the pause, and the object must not be compared repeatedly.
func TestAConflictThatTheOtherSideEndsIsLookedAtSeldom(t *testing.T) {
	c, now, live := conflicts{overwrote: func(string) {}}, began, version("theirs", 1)
	for range promptOverwrites + 2 {
		if wait := c.before(thing, sha256.Sum256(nil), live, now).wait; wait > 0 {
			break
		}
		c.wrote(thing, version("ours", live.generation+1), now, now)
		live = version("theirs", live.generation+2)
	}
	c.name(thing, "them")
	looks := 0
	for {
		found, ok := c.at(thing, now)
		if !ok {
			break
		}
		if looks++; looks > 5 {
			t.Fatalf("look %d, the next after %s", looks, found.Wait)
		}
		now = now.Add(found.Wait)
	}
	if took := now.Sub(began); looks < 2 || took > 30*time.Second {
		t.Errorf("over after %d looks and %s", looks, took)
	}
}

// Histories of objects without a conflict are dropped soon.
func TestHistoriesAreDropped(t *testing.T) {
	c := conflicts{}
	for i := range 100 {
		id := objectID{"Secret", "ns", fmt.Sprint(i)}
		c.before(id, sha256.Sum256(nil), state{}, began)
		c.wrote(id, version("x", 1), began, began)
	}
	later := began.Add(10 * time.Minute)
	c.before(thing, sha256.Sum256(nil), state{}, later)
	c.wrote(thing, version("x", 1), later, later)
	if len(c.of) != 1 {
		t.Errorf("%d objects are remembered", len(c.of))
	}
	c.forget(thing)
	if len(c.of) != 0 {
		t.Error("a deleted object is remembered")
	}
}

func TestLastManager(t *testing.T) {
	at := func(s int) *metav1.Time { return &metav1.Time{Time: began.Add(time.Duration(s) * time.Second)} }
	entry := func(manager, subresource string, s int) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Operation: metav1.ManagedFieldsOperationUpdate, Time: at(s)}
	}
	const another = `another operator with the field manager "PrometheusOperator"`
	for name, tc := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   string
	}{
		"nothing is known":       {nil, another},
		"only our name":          {[]metav1.ManagedFieldsEntry{entry(FieldManager, "", 9)}, another},
		"a user":                 {[]metav1.ManagedFieldsEntry{entry(FieldManager, "", 5), entry("kubectl-edit", "", 7)}, `"kubectl-edit"`},
		"the newest":             {[]metav1.ManagedFieldsEntry{entry("argocd", "", 8), entry("kubectl-edit", "", 7)}, `"argocd"`},
		"a user long ago":        {[]metav1.ManagedFieldsEntry{entry(FieldManager, "", 9), entry("kubectl-edit", "", 2)}, another},
		"the same second":        {[]metav1.ManagedFieldsEntry{entry("helm", "", 5)}, `"helm"`},
		"a controller's status":  {[]metav1.ManagedFieldsEntry{entry("kube-controller-manager", "status", 9)}, another},
		"an autoscaler":          {[]metav1.ManagedFieldsEntry{entry("kube-controller-manager", "scale", 9)}, `"kube-controller-manager"`},
		"an entry without times": {[]metav1.ManagedFieldsEntry{{Manager: "old"}}, another},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lastManager(tc.fields, began.Add(5*time.Second)); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

package handoff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// checker tries all orders of events.
type checker struct {
	seen   map[uint64]int8 // depth that is left
	states int
	wrong  string
	path   []string
	leaves int
}

func (c *checker) visit(t *testing.T, w *state, depth int) {
	if c.wrong != "" {
		return
	}
	key := w.key()
	if had, ok := c.seen[key]; ok && int(had) >= depth {
		return
	} else if !ok {
		c.states++
	}
	c.seen[key] = int8(depth)
	if depth == 0 {
		if c.leaves++; c.leaves%97 == 1 || w.depth < 5 {
			if wrong := w.clone().settles(); wrong != "" {
				c.wrong, c.path = wrong, w.path
			}
		}
		return
	}
	for _, e := range w.events() {
		next, wrong := w.after(e)
		if wrong != "" && c.wrong == "" {
			c.wrong, c.path = wrong, next.path
		}
		if c.wrong != "" {
			return
		}
		c.visit(t, next, depth-1)
	}
}

// settles removes all faults and returns what is still wrong after a while.
func (w *state) settles() (wrong string) {
	w.api = true
	for i := range w.pods {
		if !w.pods[i].up {
			w.pods[i].up, w.pods[i].boot, w.pods[i].seq = true, w.pods[i].boot+1, 0
		}
	}
	for round := range 60 {
		w.now = w.now.Add(tick)
		w.see()
		for i := range w.pods {
			w.hello(i)
		}
		w.step()
		for i := range w.pods {
			if w.m.Ready() {
				w.take(i, w.current(i))
			}
		}
		if gap := w.scrape(); gap != "" && round > 0 {
			return gap + " though all pods are well"
		}
		for i := range w.pods {
			w.m.Report(*w.report(i))
		}
		w.step()
	}
	for u, v := range w.unit {
		if on, to := w.m.Serves(w.id(u)); !v.gone && (on != v.want || to != Nowhere) {
			return fmt.Sprintf("stuck: %s is on %d and %d, and wanted on %d", w.units[u], on, to, v.want)
		}
	}
	return ""
}

// check returns the first violation, the events that lead to it, and the number of states.
func check(t *testing.T, s setup) *checker {
	t.Helper()
	c := &checker{seen: map[uint64]int8{}}
	c.visit(t, start(&s), s.depth)
	return c
}

// The invariants of the package hold for all events in any order. `make test-long` goes to the full depth.
func TestAllInterleavings(t *testing.T) {
	for name, s := range map[string]setup{
		"three shards": {pods: []int{0, 1, 2}, shards: 3, units: []string{"a"}, faults: 2, depth: 12},
		"two replicas": {pods: []int{0, 1, 1}, shards: 2, units: []string{"a"}, faults: 2, depth: 12},
		"two units":    {pods: []int{0, 1}, shards: 2, units: []string{"a", "b"}, faults: 2, depth: 12},
	} {
		t.Run(name, func(t *testing.T) {
			switch {
			case testing.Short():
				s.depth -= 3
			case os.Getenv("FIREKEEPER_MODEL") == "":
				s.depth--
			}
			c := check(t, s)
			if c.wrong != "" {
				t.Errorf("%s, after: %s", c.wrong, strings.Join(c.path, ", "))
			}
			t.Logf("%d states, %d of them settled", c.states, (c.leaves+96)/97)
		})
	}
}

// Long random orders of any number of events and faults break nothing either.
func FuzzInterleavings(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := setup{pods: [][]int{{0, 1, 2}, {0, 1, 1}, {0, 1}}[r.IntN(3)], units: []string{"a", "b"}, faults: 1 << 30}
		s.shards = slices.Max(s.pods) + 1
		w := start(&s)
		for range 300 {
			events := w.events()
			progress := slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.fault })
			if r.IntN(6) > 0 { // mostly something that is no fault
				events = progress
			}
			var wrong string
			if w, wrong = w.after(events[r.IntN(len(events))]); wrong != "" {
				t.Fatalf("%s, after: %s", wrong, strings.Join(w.path, ", "))
			}
		}
		if wrong := w.settles(); wrong != "" {
			t.Fatalf("%s, after: %s", wrong, strings.Join(w.path, ", "))
		}
	})
}

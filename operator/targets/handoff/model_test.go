package handoff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// The model: some shards with some pods, one or two units, and the events that can happen to them. A checker tries all
// orders of up to twelve of these events. Each tick is a scrape interval, in which each pod that is up scrapes what is
// in its list.

const tick = 30 * time.Second

// setup is the configuration of a model.
type setup struct {
	pods   []int // the shard of each
	shards int
	units  []string
	faults int // maximum number of events that are no progress
	depth  int
	// breaks (optional) is run after each step: a fault in the machine.
	breaks func(m *Machine)
	// only (optional) limits the events to those with these names.
	only []string
}

// state is one state of the model.
type state struct {
	*setup
	m    *Machine
	now  time.Time
	pods []replica
	api  bool
	unit []watched
	left int // faults
	path []string
}

// replica is a pod.
type replica struct {
	up        bool
	boot, seq uint64
	snapshot         // its list, which is also on disk
	scraped   uint64 // units since they are in its list
	wire      *snapshot
	net       *Report // on the way to the leader
	// ghost is true for one whose shard was given up, or that the leader did not hear of in time, until it
	// has a list of this leader.
	ghost bool
}

// snapshot is a list.
type snapshot struct {
	leader, version uint64
	list            uint64
	gone            uint64 // units that had no targets at its time, or whose pods stopped since then
}

// watched is the checker's record of a unit.
type watched struct {
	want    int
	gone    bool
	back    bool           // a ghost has it, and more than two shards with it
	seen    bool           // was scraped since it is there
	excused bool           // since the last scrape, a pod that had it stopped
	late    map[[2]int]int // moves that were taken back, with the ticks since then
	moved   bool           // to where it is wanted, since something changed that is a reason for it
}

// Names are made once: they are most of the work otherwise.
var (
	podName = [...]string{"p0", "p1", "p2"}
	plans   = [2][3]string{{"plan 0 on 0", "plan 0 on 1", "plan 0 on 2"}, {"plan 1 on 0", "plan 1 on 1", "plan 1 on 2"}}
	labels  = map[string][3]string{}
)

func label(kind string, i int) string {
	names, ok := labels[kind]
	if !ok {
		for i := range names {
			names[i] = fmt.Sprint(kind, " ", i)
		}
		labels[kind] = names
	}
	return names[i]
}

func (s *setup) id(u int) ID { return ID{Namespace: "n", Key: s.units[u]} }

func start(s *setup) *state {
	w := &state{setup: s, now: time.Unix(1_000_000, 0), api: true, left: s.faults}
	for range s.pods {
		w.pods = append(w.pods, replica{up: true, boot: 1})
	}
	w.unit = make([]watched, len(s.units))
	w.lead(1)
	for i := range w.pods {
		w.hello(i)
	}
	w.step()
	for i := range w.pods {
		w.take(i, w.current(i))
	}
	w.scrape()
	for i := range w.pods {
		w.m.Report(*w.report(i))
	}
	w.step()
	return w
}

// lead lets a new leader begin.
func (w *state) lead(n uint64) {
	w.m = New(n, w.now, Rules{ReassignAfter: time.Minute})
	w.see()
	for u := range w.unit {
		if !w.unit[u].gone {
			w.want(u)
		}
	}
}

func (w *state) want(u int) {
	w.m.Want(w.id(u), Want{Shard: w.unit[u].want, Why: allocation.Fill, Series: 100, Interval: tick})
}

// again allows a unit to move again, because something has changed.
func (w *state) again(u int) { w.unit[u].moved = false }

// see shows the pods to the leader.
func (w *state) see() {
	w.m.Freeze(!w.api)
	if !w.api {
		return
	}
	var pods []Pod
	for i, p := range w.pods {
		pods = append(pods, Pod{Name: podName[i], Shard: w.setup.pods[i], Live: p.up})
	}
	w.m.Pods(w.shards, pods)
}

// current returns the list for a pod.
func (w *state) current(i int) snapshot {
	shard := w.setup.pods[i]
	out := snapshot{leader: w.m.leader, version: w.m.Version(shard)}
	for u := range w.unit {
		if on, to := w.m.Serves(w.id(u)); on == shard || to == shard {
			out.list |= 1 << u
		}
		if w.unit[u].gone {
			out.gone |= 1 << u
		}
	}
	return out
}

func newer(a, b snapshot) bool {
	return a.leader > b.leader || a.leader == b.leader && a.version > b.version
}

// take delivers a list to a pod.
func (w *state) take(i int, s snapshot) {
	p := &w.pods[i]
	if newer(s, p.snapshot) {
		for u := range w.unit {
			w.unit[u].excused = w.unit[u].excused || s.gone&(1<<u) != 0
		}
		p.snapshot = s
		p.scraped &= s.list
		if s.leader == w.m.leader {
			p.ghost = false
		}
	}
}

func (w *state) report(i int) *Report {
	p := &w.pods[i]
	p.seq++
	out := &Report{Pod: podName[i], Boot: p.boot, Seq: p.seq, Leader: p.leader, Version: p.version}
	for u := range w.unit {
		if p.scraped&(1<<u) != 0 {
			out.Scraped = append(out.Scraped, w.id(u))
		}
	}
	return out
}

// scrape advances the time by an interval. It returns what went wrong.
func (w *state) scrape() (wrong string) {
	var done uint64
	for i := range w.pods {
		if p := &w.pods[i]; p.up {
			p.scraped |= p.list
			done |= p.list
		}
	}
	for u := range w.unit {
		v := &w.unit[u]
		for move := range v.late {
			v.late[move]++
		}
		switch {
		case v.gone:
		case done&(1<<u) != 0:
			v.seen, v.excused = true, v.excused && !w.api // which the leader cannot know
		case v.seen && !v.excused:
			wrong = fmt.Sprintf("gap: %s was not scraped in an interval", w.units[u])
		}
	}
	return wrong
}

// step runs one step of the leader.
func (w *state) step() (wrong string) {
	ready := w.m.Ready()
	events := w.m.Step(w.now)
	for i := range w.pods { // a leader waits only for a minute
		if !ready && w.m.Ready() && !w.m.HasReported(podName[i]) {
			w.pods[i].ghost = true
		}
	}
	if w.breaks != nil {
		w.breaks(w.m)
	}
	for _, e := range events {
		u := slices.Index(w.units, e.Key)
		switch e.Kind {
		case Dead:
			for i := range w.pods {
				if w.setup.pods[i] == e.From {
					w.pods[i].ghost = true
				}
			}
			for u := range w.unit { // a new plan
				w.again(u)
				if v := &w.unit[u]; v.want == e.From && !v.gone {
					v.want = (e.From + 1) % w.shards
					w.want(u)
				}
			}
		case Started:
			if since, late := w.unit[u].late[[2]int{e.From, e.To}]; late && time.Duration(since)*tick < slowFor {
				wrong = fmt.Sprintf("oscillation: %s goes to %d again", w.units[u], e.To)
			}
		case Back:
			if w.unit[u].want == e.To {
				w.unit[u].late = maps.Clone(w.unit[u].late)
				if w.unit[u].late == nil {
					w.unit[u].late = map[[2]int]int{}
				}
				w.unit[u].late[[2]int{e.From, e.To}] = 0
			}
		case Again:
			w.again(u)
		case Done:
			if w.unit[u].moved {
				wrong = fmt.Sprintf("oscillation: %s moves though it is where it is wanted", w.units[u])
			}
			w.unit[u].moved = e.To == w.unit[u].want
		}
	}
	return wrong
}

// scraping returns the pods that scrape a unit.
func (w *state) scraping(u int) (n int) {
	for i := range w.pods {
		if p := &w.pods[i]; p.up && p.scraped&(1<<u) != 0 {
			n++
		}
	}
	return n
}

// on returns the shards with a unit in a list, and records whether a ghost has it, too.
func (w *state) on(u int) map[int]bool {
	out, all := map[int]bool{}, map[int]bool{}
	for i := range w.pods {
		if p := &w.pods[i]; p.up && p.list&(1<<u) != 0 {
			if all[w.setup.pods[i]] = true; p.ghost {
				w.unit[u].back = true
			} else {
				out[w.setup.pods[i]] = true
			}
		}
	}
	on, to := w.m.Serves(w.id(u))
	for _, shard := range []int{on, to} {
		if shard != Nowhere {
			out[shard], all[shard] = true, true
		}
	}
	if len(all) <= 2 {
		w.unit[u].back = false
	}
	return out
}

// after returns the state after an event, and the violated invariants.
func (w *state) after(e event) (next *state, wrong string) {
	next = w.clone()
	next.path = append(next.path[:len(next.path):len(next.path)], e.name)
	if e.fault {
		next.left--
	}
	e.do(next)
	if e.name == "tick" {
		wrong = next.scrape()
		for i, p := range next.pods { // a leader does not wait for such a pod
			if next.now.Sub(next.m.began) >= unheardFor && p.leader != next.m.leader {
				next.pods[i].ghost = true
			}
		}
	}
	next.see()
	if now := next.step(); wrong == "" {
		wrong = now
	}
	for u := range next.unit {
		if wrong != "" || next.unit[u].gone {
			continue
		}
		if crash := strings.HasPrefix(e.name, "crash"); !crash && w.scraping(u) > 0 && next.scraping(u) == 0 && !w.unit[u].gone && !next.unit[u].excused {
			wrong = fmt.Sprintf("unserved: %s was taken from the last pod that scrapes it", w.units[u])
		}
		if on := next.on(u); len(on) > 2 && !next.unit[u].back {
			wrong = fmt.Sprintf("three: %s is on the shards %v", w.units[u], slices.Sorted(maps.Keys(on)))
		}
		if on, to := next.m.Serves(w.id(u)); next.m.Ready() && on == Nowhere || on == to && on != Nowhere {
			wrong = fmt.Sprintf("unserved: %s is on %d and %d", w.units[u], on, to)
		}
	}
	for shard := range next.shards {
		watched := next.m.Watched(shard)
		if slices.SortFunc(watched, ID.Compare); wrong == "" && len(slices.Compact(watched)) < len(next.m.Watched(shard)) {
			wrong = fmt.Sprintf("watched: shard %d is asked twice about a unit, which is no valid question", shard)
		}
	}
	return next, wrong
}

package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// follower is a pod that follows a stream: it takes all lines between begin and end, or none.
type follower struct {
	version string
	jobs    map[string]string
	pings   int

	next map[string]string
	left int // lines until end
}

// line takes a line and reports whether it ends a step.
func (c *follower) line(t testing.TB, text string) (ended bool) {
	t.Helper()
	var m struct {
		Begin, End, Ping *mark
		Job              string
		Gone             bool
		Groups           json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	switch {
	case m.Begin != nil && m.Begin.Full:
		c.next, c.left = map[string]string{}, *m.Begin.Jobs
	case m.Begin != nil:
		if m.Begin.From != c.version {
			t.Fatalf("%s, and the client has %s", text, c.version)
		}
		c.next, c.left = maps.Clone(c.jobs), *m.Begin.Jobs
	case m.Job != "" && m.Gone:
		delete(c.next, m.Job)
		c.left--
	case m.Job != "":
		c.next[m.Job] = string(m.Groups)
		c.left--
	case m.End != nil:
		if c.left != 0 {
			t.Fatalf("%d lines are missing", c.left)
		}
		c.jobs, c.version = c.next, m.End.Version
		return true
	case m.Ping != nil:
		c.pings++
	default:
		t.Fatalf("line %q", text)
	}
	return false
}

// take takes a step as lines.
func (c *follower) take(t testing.TB, s step) {
	t.Helper()
	var text bytes.Buffer
	w := &writer{ResponseWriter: discard{&text}, control: nil}
	begin := &mark{Version: s.to.String(), Full: s.from == Version{}, Jobs: new(len(s.blocks) + len(s.gone))}
	if !begin.Full {
		begin.From = s.from.String()
	}
	c.line(t, marshal(t, message{Begin: begin}))
	for _, b := range s.blocks {
		if err := w.block(b); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(text.String()) {
		c.line(t, line)
	}
	for _, job := range s.gone {
		c.line(t, marshal(t, message{Job: job, Gone: true}))
	}
	c.line(t, marshal(t, message{End: &mark{Version: s.to.String()}}))
}

func marshal(t testing.TB, m message) string {
	t.Helper()
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var shard0 = Shard{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "monitoring", Name: "k8s"}}

// jobOf returns a change of a job with this number of targets.
func jobOf(name string, targets int) Change {
	var groups []string
	for i := range targets {
		groups = append(groups, fmt.Sprintf(`{"targets":["10.0.%d.%d:80"],"labels":{}}`, i/250, i%250))
	}
	return Change{Job: name, Namespace: "demo", Targets: targets, Line: []byte(fmt.Sprintf(`{"job":%q,"groups":[%s]}`+"\n", name, strings.Join(groups, ",")))}
}

// After any changes, a client with any version, of this leader or another, gets the current jobs.
func TestSteps(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		f := New()
		f.Lead(7)
		now := time.Unix(0, 0)
		f.Apply(now, shard0, nil)
		want := map[string]string{}
		var clients []*follower
		full, partial := 0, 0
		for range 300 {
			now = now.Add(time.Second)
			var changes []Change
			for range r.IntN(4) {
				name := fmt.Sprintf("job-%d", r.IntN(40))
				if r.IntN(3) == 0 {
					changes = append(changes, Change{Job: name})
					delete(want, name)
					continue
				}
				c := jobOf(name, r.IntN(20))
				changes = append(changes, c)
				want[name] = strings.TrimSuffix(strings.SplitN(string(c.Line), `"groups":`, 2)[1], "}\n")
			}
			f.Apply(now, shard0, changes)
			if len(clients) < 10 {
				clients = append(clients, &follower{})
			}
			c := clients[r.IntN(len(clients))]
			if r.IntN(50) == 0 {
				c.version = "6-1" // of another leader
			}
			have, ok := parseVersion(c.version)
			if !ok {
				t.Fatal(c.version)
			}
			at, err := f.next(caller{shard: shard0}, have)
			if err != nil {
				t.Fatal(err)
			}
			if at.more {
				c.take(t, at.step)
				if (at.step.from == Version{}) {
					full++
				} else {
					partial++
				}
			}
			if diff := cmp.Diff(want, c.jobs); diff != "" {
				t.Fatalf("seed %d, version %s: %s", seed, c.version, diff)
			}
		}
		if full < 10 || partial < 50 {
			t.Errorf("%d full lists, %d changes", full, partial)
		}
	}
}

// A client that had another list gets a full one, even if its version is newer: the shard of a pod may have been
// removed, or added again.
func TestStepFromAnotherList(t *testing.T) {
	now := time.Unix(0, 0)
	had, has := newList(1, now), newList(2, now)
	has.apply(now, 3, []Change{jobOf("a", 0)})
	had.apply(now, 4, []Change{jobOf("a", 5)})
	has.apply(now, 5, []Change{jobOf("b", 0)})
	for seq, full := range map[uint64]bool{1: true, 2: false, 3: false, 4: true, 6: true} {
		if s, ok := has.step(7, Version{7, seq}); !ok || (s.from == Version{}) != full {
			t.Errorf("from version %d: %+v, %v", seq, s, ok)
		}
	}
	if _, ok := has.step(7, Version{7, 5}); ok {
		t.Error("a client with the last version gets it again")
	}
	for seq := range uint64(3 * maxIssued) {
		has.apply(now, 6+seq, []Change{jobOf("a", int(seq%2))})
	}
	if s, _ := has.step(7, Version{7, 5}); s.from != (Version{}) || len(has.issued) > maxIssued {
		t.Errorf("%d versions, and a step from the first", len(has.issued))
	}
	if s, _ := has.step(7, Version{7, has.seq - 1}); s.from != (Version{7, has.seq - 1}) {
		t.Errorf("from the last but one: %+v", s.from)
	}
}

// A client whose version is older than the removed jobs that the list remembers gets a full list.
func TestForgottenRemovals(t *testing.T) {
	f := New()
	f.Lead(1)
	now := time.Unix(0, 0)
	var all, none []Change
	for i := range maxGone + 1 {
		all, none = append(all, jobOf(fmt.Sprint(i), 1)), append(none, Change{Job: fmt.Sprint(i)})
	}
	f.Apply(now, shard0, all)
	at, _ := f.next(caller{shard: shard0}, Version{})
	f.Apply(now, shard0, none)
	later, err := f.next(caller{shard: shard0}, at.step.to)
	if err != nil || !later.more || later.step.from != (Version{}) || len(later.step.gone)+len(later.step.blocks) > 0 {
		t.Errorf("%+v, %v", later.step, err)
	}
	if l := f.lists[shard0]; len(l.gone) > 0 {
		t.Errorf("%d removed jobs are remembered", len(l.gone))
	}
}

// A job that loses many targets at once without an explanation keeps them for a while, unless they return. An explained
// loss is served immediately.
func TestShrink(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []Change // one second apart
		want  []int    // targets served after each
		held  int      // jobs held at the end
		after int      // targets when the time to hold has passed
	}{
		"deleted":            {[]Change{jobOf("a", 100), jobOf("a", 0)}, []int{100, 0}, 0, 0},
		"unexplained":        {[]Change{jobOf("a", 100), lost("a", 0)}, []int{100, 100}, 1, 0},
		"a few":              {[]Change{jobOf("a", 100), lost("a", 70)}, []int{100, 70}, 0, 70},
		"few in a small job": {[]Change{jobOf("a", 9), lost("a", 0)}, []int{9, 0}, 0, 0},
		"bit by bit":         {[]Change{jobOf("a", 100), lost("a", 80), lost("a", 60), lost("a", 0)}, []int{100, 80, 80, 80}, 1, 0},
		"back":               {[]Change{jobOf("a", 100), lost("a", 0), jobOf("a", 100)}, []int{100, 100, 100}, 0, 100},
		"grows meanwhile":    {[]Change{jobOf("a", 100), lost("a", 0), jobOf("a", 120)}, []int{100, 100, 120}, 0, 120},
		"deleted meanwhile":  {[]Change{jobOf("a", 100), lost("a", 50), jobOf("a", 20)}, []int{100, 100, 100}, 1, 20},
		"job removed":        {[]Change{jobOf("a", 100), lost("a", 0), {Job: "a"}}, []int{100, 100, 0}, 0, 0},
		"new":                {[]Change{lost("a", 5)}, []int{5}, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			f := New()
			f.Lead(1)
			now := time.Unix(1000, 0)
			for i, c := range tc.steps {
				now = now.Add(time.Second)
				held := f.Apply(now, shard0, []Change{c})
				if n := f.totals().targets; n != tc.want[i] {
					t.Errorf("%d targets after step %d, want %d", n, i, tc.want[i])
				}
				for _, s := range held {
					if s.Job != "a" || s.To != c.Targets || s.From != f.totals().targets || s.Until != now.Add(2*time.Minute) {
						t.Errorf("%+v", s)
					}
				}
			}
			if n := f.totals().held; n != tc.held {
				t.Errorf("%d jobs are held", n)
			}
			if early := f.Release(now.Add(time.Minute)); len(early) > 0 {
				t.Errorf("released early: %v", early)
			}
			if got := f.Release(now.Add(2 * time.Minute)); len(got) != tc.held {
				t.Errorf("released: %v", got)
			}
			if n := f.totals().targets; n != tc.after {
				t.Errorf("%d targets at the end", n)
			}
		})
	}
}

func lost(name string, targets int) Change {
	c := jobOf(name, targets)
	c.Unexplained = true
	return c
}

// Many jobs that lose a few targets each are as suspicious as one job that loses all of them.
func TestShrinkOfShard(t *testing.T) {
	f := New()
	f.Lead(1)
	now := time.Unix(1000, 0)
	var all, less []Change
	for i := range 20 {
		all, less = append(all, jobOf(fmt.Sprint(i), 5)), append(less, lost(fmt.Sprint(i), 2))
	}
	f.Apply(now, shard0, all)
	if held := f.Apply(now, shard0, less); len(held) != 20 || f.totals().targets != 100 {
		t.Errorf("%d held, %d targets", len(held), f.totals().targets)
	}
	if f.Release(now.Add(holdFor)); f.totals().targets != 40 {
		t.Errorf("%d targets", f.totals().targets)
	}
}

// A namespace with too much loses its largest jobs, and no other does. The jobs return when there is
// room.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 0))
	noise := func(name, namespace string, size int) Change {
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = byte('!' + r.IntN(80))
		}
		line, err := json.Marshal(map[string]any{"job": name, "groups": []string{string(raw)}})
		if err != nil {
			t.Fatal(err)
		}
		return Change{Job: name, Namespace: namespace, Targets: 1, Line: append(line, '\n')}
	}
	f := New()
	f.Lead(1)
	now := time.Unix(0, 0)
	f.Apply(now, shard0, []Change{noise("good", "good", 100<<10), noise("small", "bad", 500<<10), noise("large", "bad", 2<<20)})
	before, err := f.next(caller{shard: shard0}, Version{})
	if err != nil || len(before.step.blocks) != 3 {
		t.Fatalf("%d jobs, %v", len(before.step.blocks), err)
	}
	f.Apply(now, shard0, []Change{noise("more", "bad", 2<<20)})
	at, _ := f.next(caller{shard: shard0}, before.step.to)
	c := follower{version: before.step.to.String(), jobs: map[string]string{"good": "", "small": "", "large": ""}}
	c.take(t, at.step)
	if _, has := c.jobs["good"]; !has || len(c.jobs) != 3 {
		t.Errorf("the list has %d jobs, good: %t", len(c.jobs), has)
	}
	if s := f.lists[shard0].status(); len(s.TooLarge) != 1 || s.Bytes > maxPacked || s.Jobs != 3 {
		t.Errorf("%v, %d bytes, %d jobs", s.TooLarge, s.Bytes, s.Jobs)
	}
	f.Apply(now, shard0, []Change{{Job: "small"}, {Job: "more"}})
	if s := f.lists[shard0].status(); len(s.TooLarge) != 0 || s.Jobs != 2 {
		t.Errorf("%v, %d jobs", s.TooLarge, s.Jobs)
	}
	at, _ = f.next(caller{shard: shard0}, at.step.to)
	if c.take(t, at.step); len(c.jobs) != 2 {
		t.Errorf("the list has %d jobs", len(c.jobs))
	}
}

// A list with one job in each of too many namespaces still ends.
func TestFitManyNamespaces(t *testing.T) {
	var jobs []sizedJob
	for i := range maxJobs + 7 {
		jobs = append(jobs, sizedJob{fmt.Sprint(i), fmt.Sprint(i), measure{1, 1, 1}})
	}
	if out := exceeding(jobs[:maxJobs]); len(out) != 0 {
		t.Errorf("%d left out", len(out))
	}
	if out := exceeding(jobs); len(out) != 7 {
		t.Errorf("%d left out", len(out))
	}
}

// The cost to leave out the jobs of one namespace does not grow with the number of others, because all streams wait
// while a list changes.
func TestFitManyJobs(t *testing.T) {
	var jobs []sizedJob
	for i := range 1000 {
		jobs = append(jobs, sizedJob{fmt.Sprint("good-", i), fmt.Sprint(i), measure{1, 1, 1}})
	}
	for i := range 5 * maxJobs {
		jobs = append(jobs, sizedJob{fmt.Sprint("bad-", i), "bad", measure{1, 1, 1}})
	}
	out := exceeding(jobs)
	if len(out) != 4*maxJobs+1000 || strings.Contains(strings.Join(out, " "), "good") {
		t.Errorf("%d left out", len(out))
	}
	var few []sizedJob
	for _, j := range jobs {
		few = append(few, sizedJob{j.name, "bad", j.measure})
	}
	if one, many := testing.AllocsPerRun(1, func() { exceeding(few) }), testing.AllocsPerRun(1, func() { exceeding(jobs) }); many > one+20_000 {
		t.Errorf("%v allocations with one namespace, %v with a thousand others", one, many)
	}
}

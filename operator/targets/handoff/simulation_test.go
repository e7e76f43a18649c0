package handoff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

// A simulation of shards of servers with central discovery, in simulated time. A server fetches its list every 5 s,
// passes it on after up to 5 s, starts and stops scrapes every 5 s, and scrapes a target in a slot of the interval that
// depends on the server; its sidecar reports every 5 s.

const pollEvery = 5 * time.Second

// server is a replica of a shard.
type server struct {
	name           string
	shard, replica int
	rng            *rand.Rand
	poll, tick     time.Duration // phases
	version        uint64        // of the list that it has fetched
	queue          []passed      // lists that it passes on
	targets        map[int]*scrapes
	seq            uint64
}

// passed is a list that gets to the scrape manager after a while.
type passed struct {
	at      time.Duration
	targets []int
}

type scrapes struct {
	next    time.Duration
	scraped bool
}

// simulation has a plan, the machine, the servers, and the scrapes of targets.
type simulation struct {
	t         *testing.T
	rng       *rand.Rand
	interval  time.Duration
	replicas  int
	overlap   bool
	ids       []allocation.ID
	index     map[allocation.ID]int
	plan      *allocation.Plan
	names     []allocation.Shard
	m         *handoff.Machine
	servers   []*server
	now       time.Duration
	last      [][]time.Duration // by target and replica: the time of its last scrape
	worst     time.Duration
	count     int
	moves     int
	unscraped int
}

var epoch = time.Unix(1_700_000_000, 0)

func (s *simulation) clock() time.Time { return epoch.Add(s.now) }

func simulate(t *testing.T, interval time.Duration, replicas, targets int, overlap bool) *simulation {
	s := &simulation{
		t: t, rng: rand.New(rand.NewPCG(uint64(interval), uint64(replicas))), interval: interval, replicas: replicas, overlap: overlap,
		index: map[allocation.ID]int{}, plan: allocation.New(nil), last: make([][]time.Duration, targets),
	}
	for i := range targets {
		id := allocation.ID{Namespace: "demo", Key: fmt.Sprintf("10.0.%d.%d:8080", i/250, i%250)}
		s.ids, s.index[id] = append(s.ids, id), i
		s.plan.Put(allocation.Unit{ID: id, Weight: allocation.WeightOf(uint64(100 + s.rng.IntN(1500)))})
		s.last[i] = make([]time.Duration, replicas)
		for r := range s.last[i] {
			s.last[i][r] = -1
		}
	}
	s.m = handoff.New(1, s.clock(), handoff.Rules{ReassignAfter: 5 * time.Minute})
	return s
}

// scale changes the number of shards, and advances the time until all targets are on their shards.
func (s *simulation) scale(n int) {
	s.shards(max(n, len(s.names)), n)
	for _, m := range s.plan.Settle(allocation.Limits{Fill: true}) {
		s.m.Want(m.ID, handoff.Want{Shard: m.To, Why: m.Why, Series: m.Weight.Series(), Interval: s.interval})
		if m.From != allocation.Nowhere {
			s.moves++
		}
	}
	began := s.now
	for {
		s.pass(200 * time.Millisecond)
		moving, waiting := s.m.Moving()
		empty := true
		for shard := n; shard < len(s.names); shard++ {
			empty = empty && s.m.Empty(shard)
		}
		if len(moving)+waiting == 0 && empty && s.now-began > 5*time.Minute {
			break
		}
		if s.now-began > 10*time.Hour {
			s.t.Fatal("the shards are not done in ten hours")
		}
	}
	for range 75 { // the servers have the empty list
		s.pass(200 * time.Millisecond)
	}
	s.shards(n, n)
	s.pass(200 * time.Millisecond)
}

// shards sets the number of shards, those from active on are draining.
func (s *simulation) shards(n, active int) {
	for len(s.names) < n {
		shard := len(s.names)
		s.names = append(s.names, allocation.Shard{Name: fmt.Sprint("shard-", shard)})
		for replica := range s.replicas {
			srv := &server{name: fmt.Sprintf("shard-%d-%d", shard, replica), shard: shard, replica: replica, targets: map[int]*scrapes{}}
			srv.rng = rand.New(rand.NewPCG(uint64(shard), uint64(replica)))
			srv.poll, srv.tick = time.Duration(srv.rng.Int64N(int64(pollEvery))), time.Duration(srv.rng.Int64N(int64(pollEvery)))
			s.servers = append(s.servers, srv)
		}
	}
	s.names = s.names[:n]
	for i := range s.names {
		s.names[i].Draining = i >= active
	}
	s.plan.SetShards(s.names)
	s.servers = slices.DeleteFunc(s.servers, func(srv *server) bool {
		if srv.shard >= n && len(srv.targets) > 0 {
			s.t.Errorf("%s is removed with %d targets", srv.name, len(srv.targets))
		}
		return srv.shard >= n
	})
	var pods []handoff.Pod
	for _, srv := range s.servers {
		pods = append(pods, handoff.Pod{Name: srv.name, Shard: srv.shard, Live: true})
	}
	s.m.Pods(n, pods)
	for _, pod := range pods {
		if !s.m.HasReported(pod.Name) {
			s.m.Held(pod.Name, nil, nil)
		}
	}
}

// pass advances the time.
func (s *simulation) pass(d time.Duration) {
	s.now += d
	for _, e := range s.m.Step(s.clock()) {
		if e.Kind != handoff.Started && e.Kind != handoff.Done {
			s.t.Errorf("%+v", e)
		}
	}
	for _, srv := range s.servers {
		s.advance(srv, d)
	}
}

// due reports whether an event that occurs every 5 s was due in the last d.
func (s *simulation) due(phase, d time.Duration) bool {
	return (s.now-phase)/pollEvery != (s.now-phase-d)/pollEvery
}

func (s *simulation) advance(srv *server, d time.Duration) {
	if s.due(srv.poll, d) && srv.version != s.m.Version(srv.shard) {
		srv.version = s.m.Version(srv.shard)
		list := passed{at: s.now + time.Duration(srv.rng.Int64N(int64(pollEvery)))}
		for i, id := range s.ids {
			on, to := s.m.Serves(id)
			if !s.overlap && to != handoff.Nowhere {
				on, to = to, handoff.Nowhere // moves directly from one to the other
			}
			if on == srv.shard || to == srv.shard {
				list.targets = append(list.targets, i)
			}
		}
		srv.queue = append(srv.queue, list)
	}
	if s.due(srv.tick, d) {
		for len(srv.queue) > 0 && srv.queue[0].at <= s.now {
			s.apply(srv, srv.queue[0].targets)
			srv.queue = srv.queue[1:]
		}
	}
	for i, x := range srv.targets {
		for x.next <= s.now {
			s.scrape(i, srv.replica, x.next)
			x.scraped, x.next = true, x.next+s.interval
		}
	}
	if s.due(srv.poll+pollEvery/2, d) {
		srv.seq++
		r := handoff.Report{Pod: srv.name, Boot: 1, Seq: srv.seq, Leader: 1, Version: srv.version}
		for _, id := range s.m.Watched(srv.shard) {
			if x := srv.targets[s.index[id]]; x != nil && x.scraped {
				r.Scraped = append(r.Scraped, id)
			}
		}
		s.m.Report(r)
	}
}

// apply starts and stops scrapes.
func (s *simulation) apply(srv *server, list []int) {
	for i := range srv.targets {
		if !slices.Contains(list, i) {
			delete(srv.targets, i)
		}
	}
	for _, i := range list {
		if srv.targets[i] == nil {
			slot := time.Duration(rand.New(rand.NewPCG(uint64(i), uint64(srv.shard*10+srv.replica))).Int64N(int64(s.interval)))
			srv.targets[i] = &scrapes{next: s.now + (slot-s.now%s.interval+s.interval)%s.interval}
		}
	}
}

func (s *simulation) scrape(target, replica int, at time.Duration) {
	if last := s.last[target][replica]; last >= 0 {
		s.worst = max(s.worst, at-last)
		if at-last > s.interval*3/2 {
			s.unscraped++
		}
	}
	s.last[target][replica] = max(s.last[target][replica], at)
	s.count++
}

// While shards change from 2 to 3, 5, 3 and 2, no target waits longer than an interval for its next scrape,
// and few are scraped more often.
func TestNoGapWhileShardsChange(t *testing.T) {
	for _, interval := range []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second} {
		for _, replicas := range []int{1, 2} {
			s := simulate(t, interval, replicas, 300, true)
			s.scale(2)
			s.count = 0
			from := s.now
			for _, n := range []int{3, 5, 3, 2} {
				s.scale(n)
			}
			if s.worst > interval+time.Second {
				t.Errorf("every %s, %d replicas: %s between two scrapes", interval, replicas, s.worst)
			}
			if s.moves < 300 {
				t.Errorf("only %d moves", s.moves)
			}
			lost := 0
			for i := range s.last {
				for _, last := range s.last[i] {
					if s.now-last > interval {
						lost++
					}
				}
			}
			if lost > 0 {
				t.Errorf("every %s, %d replicas: %d targets are not scraped any more", interval, replicas, lost)
			}
			usual := (s.now - from).Seconds() / interval.Seconds() * 300 * float64(replicas)
			extra := (float64(s.count) - usual) / float64(s.moves*replicas)
			if most := 0.5 + 30*time.Second.Seconds()/interval.Seconds(); extra > most {
				t.Errorf("every %s, %d replicas: %.2f more scrapes for each move, more than %.1f", interval, replicas, extra, most)
			}
			t.Logf("every %s, %d replicas: %d moves in %s, at most %s between scrapes, %.2f more scrapes for each move",
				interval, replicas, s.moves, (s.now - from).Round(time.Second), s.worst, extra)
		}
	}
}

// Without the overlap, the same simulation has gaps, so it can detect them.
func TestGapsAreSeen(t *testing.T) {
	s := simulate(t, 15*time.Second, 1, 300, false)
	s.scale(2)
	for _, n := range []int{3, 2} {
		s.scale(n)
	}
	if s.unscraped == 0 {
		t.Error("a switch without overlap leaves no gap")
	}
	t.Logf("%d of %d moves leave a gap of more than 1.5 intervals, the longest is %s", s.unscraped, s.moves, s.worst)
}

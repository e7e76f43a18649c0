package allocation_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// counts are numbers of shards; with many units also large ones.
func counts() []int {
	if testing.Short() {
		return []int{1, 2, 3, 4, 7, 20, 50}
	}
	return []int{1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200, 1000}
}

// eachDistribution runs a test with 100 units for each of n shards, whose heaviest has at most a quarter of the
// mean.
func eachDistribution(t *testing.T, check func(t *testing.T, w distribution, units []allocation.Unit, n int)) {
	for name, w := range distributions {
		t.Run(name, func(t *testing.T) {
			for _, n := range counts() {
				units := w.units(uint64(n), 100*(n+1))
				for 4*heaviest(units)*uint64(n+1) > total(units) {
					most := allocation.WeightOf(total(units) / uint64(4*(n+1)))
					for i := range units {
						units[i].Weight = min(units[i].Weight, most-1)
					}
				}
				check(t, w, units, n)
			}
		})
	}
}

// An additional shard gets its part of the series. Only one more percentage point moves, to that shard or off a shard
// that has too many (P2). Afterwards, shards are even (P4).
func TestOneShardMore(t *testing.T) {
	eachDistribution(t, func(t *testing.T, _ distribution, units []allocation.Unit, n int) {
		p := planned(units, shards(n))
		more := shards(n + 1)
		p.SetShards(more)
		loads := p.Loads()
		moves := p.Settle(unlimited(more))
		if got, most := moved(moves, units), 1/float64(n+1)+0.01; got > most {
			t.Errorf("%d -> %d shards move %.4f of all series, more than %.4f", n, n+1, got, most)
		}
		for _, m := range moves {
			if m.To != n && (m.Why != allocation.Relieve || !loads[m.From].Over()) {
				t.Fatalf("%d -> %d shards move %+v", n, n+1, m)
			}
		}
		ends(t, p, more)
		consistent(t, p, units, more)
		if got := spread(p); got > 1.10 {
			t.Errorf("%d -> %d shards: the fullest has %.3f of the mean", n, n+1, got)
		}
	})
}

// If a shard is removed, its units move, and at most 1.5 percentage points of all other series, or 2.5 with few heavy
// units, which do not fit anywhere (P3).
func TestOneShardLess(t *testing.T) {
	eachDistribution(t, func(t *testing.T, w distribution, units []allocation.Unit, n int) {
		less, was := shards(n), shards(n+1)
		p := planned(units, was)
		was[n].Draining = true
		p.SetShards(was)
		moves := p.Settle(unlimited(was))
		var others []allocation.Move
		for _, m := range moves {
			if (m.Why == allocation.Drain) != (m.From == n) || m.To == n {
				t.Fatalf("%d -> %d shards move %+v", n+1, n, m)
			}
			if m.From != n {
				others = append(others, m)
			}
		}
		if got := moved(others, units); got > w.besides {
			t.Errorf("%d -> %d shards move %.4f of all series that were not on the last", n+1, n, got)
		}
		consistent(t, p, units, was)
		p.SetShards(less)
		if moves := p.Settle(allocation.Limits{}); len(moves) > 0 {
			t.Errorf("%d units move when the drained shard goes", len(moves))
		}
		consistent(t, p, units, less)
		ends(t, p, less)
		if got := spread(p); got > 1.10 {
			t.Errorf("%d -> %d shards: the fullest has %.3f of the mean", n+1, n, got)
		}
	})
}

// Shards are even from the beginning, for any units (P1, P4).
func TestShardsAreEven(t *testing.T) {
	for name, w := range distributions {
		for _, n := range counts() {
			for _, each := range []int{1, 5, 50, 200} {
				if n*each > 50_000 {
					continue
				}
				units := w.units(uint64(each), each*n)
				p := planned(units, shards(n))
				consistent(t, p, units, shards(n))
				if got := spread(p); each >= 50 && got > 1.10 {
					t.Errorf("%s, %d units on %d shards: the fullest has %.3f of the mean", name, len(units), n, got)
				}
				bounded(t, p, units, n)
			}
		}
	}
}

// bounded checks P4 for any units: a shard has at most 1.1 times the mean, or twice its lightest unit more than the
// mean, or only a unit that needs a shard of its own.
func bounded(t *testing.T, p *allocation.Plan, units []allocation.Unit, n int) {
	t.Helper()
	lightest := make([]uint64, n)
	for _, u := range units {
		if at := p.On(u.ID); at != allocation.Nowhere && (lightest[at] == 0 || u.Weight.Series() < lightest[at]) {
			lightest[at] = u.Weight.Series()
		}
	}
	for i, l := range p.Loads() {
		if l.Over() && l.Excess() > 2*lightest[i] {
			t.Errorf("%d units on %d shards: shard %d has %+v, its lightest unit %d", len(units), n, i, l, lightest[i])
		}
	}
}

// A new, removed or reweighed unit does not move any other (P5), and costs one hash per shard.
func TestOthersStay(t *testing.T) {
	const n = 20
	units := logNormal(1, 5000)
	p := planned(units, shards(n))
	r := rand.New(rand.NewPCG(1, 1))
	for step := range 500 {
		before, i := p.Cost(), r.IntN(len(units))
		var want int
		switch step % 3 {
		case 0:
			units = append(units, unit(10_000+step, uint64(r.IntN(5000))))
			p.Put(units[len(units)-1])
			want = 1
		case 1:
			p.Remove(units[i].ID)
			units = slices.Delete(units, i, i+1)
		case 2:
			series := float64(units[i].Weight.Series()) * (0.75 + r.Float64()*0.6)
			if w := units[i].Weight.Follow(uint64(series)); w != units[i].Weight {
				t.Fatalf("%d series: weight %d, before %d", uint64(series), w, units[i].Weight)
			}
			units[i].Weight += allocation.Weight(r.IntN(2)) // also where it does change
			p.Put(units[i])
		}
		moves := p.Settle(allocation.Limits{})
		if len(moves) != want || want == 1 && (moves[0].ID != units[len(units)-1].ID || moves[0].From != allocation.Nowhere) {
			t.Fatalf("step %d: %+v", step, moves)
		}
		if after := p.Cost(); after.Hashes-before.Hashes > want*n || after.Visits-before.Visits > want*(n+1) {
			t.Fatalf("step %d: cost %+v, before %+v", step, after, before)
		}
	}
	consistent(t, p, units, shards(n))
}

// If the memory is lost after growth by a fifth, most series stay on their shards (P6), or fewer if few units have most
// of them.
func TestMemoryIsLost(t *testing.T) {
	for name, w := range distributions {
		for _, n := range []int{5, 10, 20, 50} {
			units := w.units(7, 500*n)
			p := planned(units, shards(n))
			last := n + n/5
			for k := n + 1; k <= last; k++ {
				p.SetShards(shards(k))
				p.Settle(unlimited(shards(k)))
			}
			again := planned(units, shards(last))
			var same uint64
			for _, u := range units {
				if p.On(u.ID) == again.On(u.ID) {
					same += u.Weight.Series()
				}
			}
			if got := float64(same) / float64(total(units)); got < w.remembered {
				t.Errorf("%s, %d -> %d shards: %.3f of the series are where a new plan puts them", name, n, last, got)
			}
		}
	}
}

// Zones are plans of their own, and units without a shard in their zone are reported.
func TestZones(t *testing.T) {
	on := shards(9)
	for i := range on {
		on[i].Zone = []string{"a", "b", "c"}[i%3]
	}
	units := logNormal(3, 3000)
	for i := range units {
		units[i].Zone = []string{"a", "b", "c", "d"}[i%4]
	}
	p := planned(units, on)
	consistent(t, p, units, on)
	if p.Stranded() != 750 {
		t.Errorf("%d units are stranded", p.Stranded())
	}
	if got := spread(p); got > 1.10 {
		t.Errorf("the fullest shard has %.3f of the mean", got)
	}
	for i := range units { // units in another zone move to that zone
		units[i].Zone = []string{"b", "c", "d", "a"}[i%4]
		p.Put(units[i])
	}
	p.Settle(unlimited(on))
	consistent(t, p, units, on)

	alone := allocation.New([]allocation.Shard{on[0]})
	for _, u := range units {
		if u.Zone == "a" {
			alone.Put(u)
		}
	}
	for _, u := range units {
		if alone.Assign(u.ID, on[0].Name) != (u.Zone == "a") || alone.Assign(u.ID, on[1].Name) {
			t.Fatalf("%v of zone %s: wrong shards were assigned", u.ID, u.Zone)
		}
	}
}

// What pods report is kept, unless the shard drains.
func TestAssigned(t *testing.T) {
	units, on := logNormal(4, 2000), shards(10)
	p := planned(units, on)
	again := allocation.New(on)
	for _, u := range units {
		again.Put(u)
		if !again.Assign(u.ID, on[p.On(u.ID)].Name) {
			t.Fatalf("%v was not assigned", u.ID)
		}
	}
	if moves := again.Settle(allocation.Limits{}); len(moves) > 0 {
		t.Errorf("%d units move", len(moves))
	}
	if again.Assign(allocation.ID{Key: "unknown"}, on[0].Name) || again.Assign(units[0].ID, "unknown") {
		t.Error("an unknown unit or shard was assigned")
	}
	on[3].Draining = true
	again.SetShards(on)
	for _, m := range again.Settle(allocation.Limits{}) {
		if m.From != 3 || m.Why != allocation.Drain {
			t.Fatalf("%+v", m)
		}
	}
	consistent(t, again, units, on)
	for i := range on { // all of them: units stay where they are
		on[i].Draining = true
	}
	again.SetShards(on)
	if moves := again.Settle(unlimited(on)); len(moves) > 0 || again.Stranded() != len(units) {
		t.Errorf("%d units move, %d are stranded", len(moves), again.Stranded())
	}
}

// A unit that is heavier than the mean gets a shard of its own, which others leave, and so does each of
// two that grew on the same shard.
func TestGiants(t *testing.T) {
	const n = 10
	units := logNormal(5, 2000)
	p := planned(units, shards(n))
	on, grown := p.On(units[0].ID), 1
	for p.On(units[grown].ID) != on {
		grown++
	}
	mean := total(units) / n
	for _, i := range []int{0, grown} {
		units[i].Weight = allocation.WeightOf(3 * mean)
		p.Put(units[i])
	}
	for range 3 {
		p.Settle(unlimited(shards(n)))
	}
	consistent(t, p, units, shards(n))
	alone := 0
	for _, l := range p.Loads() {
		if l.Alone > 0 {
			alone++
			if l.Units != 1 {
				t.Errorf("%d units are on the shard of a giant: %+v", l.Units, l)
			}
		}
	}
	if got := spread(p); alone != 2 || got > 1.10 {
		t.Errorf("%d shards have a giant, the fullest other one has %.3f of the mean", alone, got)
	}
	if w := planned(units[:1], shards(3)).Loads(); w[0].Units+w[1].Units+w[2].Units != 1 {
		t.Errorf("one unit on three shards: %+v", w)
	}
}

// ends settles until nothing moves.
func ends(t *testing.T, p *allocation.Plan, on []allocation.Shard) {
	t.Helper()
	for range 200 {
		if len(p.Settle(unlimited(on))) == 0 {
			return
		}
	}
	t.Error("settling does not end")
}

// Reserved memory changes no placement, also of a plan that has units and unused slots.
func TestGrow(t *testing.T) {
	distribution, on := logNormal(3, 2000), shards(7)
	place := func(grow func(*allocation.Plan, int)) *allocation.Plan {
		p := allocation.New(on)
		for i, u := range distribution {
			grow(p, i)
			p.Put(u)
			if i%100 == 0 {
				p.Remove(u.ID)
				grow(p, 1)
				p.Put(u)
			}
		}
		p.Settle(allocation.Limits{})
		return p
	}
	want := place(func(*allocation.Plan, int) {})
	got := place((*allocation.Plan).Grow)
	for _, u := range distribution {
		if at := got.On(u.ID); at == allocation.Nowhere || at != want.On(u.ID) {
			t.Fatalf("%v is on %d, without Grow on %d", u.ID, at, want.On(u.ID))
		}
	}
}

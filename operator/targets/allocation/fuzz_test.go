package allocation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// After any calls in any order, each unit is on one shard, loads are sums, a namespace is spread over shards, the
// result does not depend on the order of calls, and settling terminates (P1, P4, P6).
func FuzzPlan(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint16(1+seed*seed%60), uint16(seed*31%900))
	}
	f.Add(uint64(99), uint16(1000), uint16(3000))
	f.Fuzz(func(t *testing.T, seed uint64, n, many uint16) {
		r := rand.New(rand.NewPCG(seed, 5))
		on := shards(1 + int(n)%1000)
		zones := []string{"", "", "b", "c"}[:1+r.IntN(4)]
		for i := range on {
			on[i].Zone, on[i].Draining = zones[i%len(zones)], r.IntN(5) == 0
		}
		units := anything(r, int(many)%3000, zones)
		first, second := allocation.New(on), allocation.New(shards(3))
		for _, u := range units {
			first.Put(u)
		}
		second.SetShards(on)
		for _, i := range r.Perm(len(units)) {
			second.Put(allocation.Unit{ID: units[i].ID, Zone: "elsewhere", Weight: 7})
		}
		second.Settle(unlimited(on))
		for _, i := range r.Perm(len(units)) {
			second.Put(units[i])
			if r.IntN(4) == 0 {
				second.Remove(units[i].ID)
				second.Put(units[i])
			}
		}
		for round := range 4 {
			limits := unlimited(on)
			a := first.Settle(limits)
			b := second.Settle(limits)
			if !slices.Equal(a, b) {
				t.Fatalf("round %d: the order of calls matters", round)
			}
			consistent(t, first, units, on)
			fair(t, a, first, units, on)
			for _, m := range a {
				if m.Why == allocation.Drain && !on[m.From].Draining || m.Why == allocation.Place && m.From >= 0 || m.From == m.To {
					t.Fatalf("round %d: %+v", round, m)
				}
			}
			if round == 1 { // change some, in two orders
				for i := range on {
					on[i].Draining = r.IntN(6) == 0
				}
				units = slices.DeleteFunc(units, func(u allocation.Unit) bool {
					gone := r.IntN(5) == 0
					if gone {
						first.Remove(u.ID)
					}
					return gone
				})
				for i := range units {
					if r.IntN(3) == 0 {
						units[i].Weight = allocation.Weight(r.IntN(70))
						first.Put(units[i])
						units[i].Weight = min(units[i].Weight, allocation.MaxWeight)
					}
				}
				first.SetShards(on)
				second = copied(second, first, units, on)
			}
		}
		ends(t, first, on)
		if len(zones) == 1 && !slices.ContainsFunc(on, func(s allocation.Shard) bool { return s.Draining }) {
			bounded(t, first, units, len(on))
		}
	})
}

// anything returns units of any kind: no weight, all of it, many of one namespace, equal keys.
func anything(r *rand.Rand, n int, zones []string) (out []allocation.Unit) {
	seen := map[allocation.ID]bool{}
	for range n {
		u := unit(r.IntN(4*n), uint64(math.Exp(r.Float64()*12)))
		switch r.IntN(10) {
		case 0:
			u.Weight = allocation.Weight(r.IntN(int(allocation.MaxWeight) + 1))
		case 1:
			u.Weight = 0
		case 2, 3, 4:
			u.Namespace = "many"
		case 5:
			u.Key = unit(r.IntN(10), 0).Key
		}
		u.Zone = append(zones, "nowhere")[r.IntN(len(zones)+1)]
		if !seen[u.ID] {
			seen[u.ID] = true
			out = append(out, u)
		}
	}
	return out
}

// copied returns a plan with the same content in another order, to which pods have reported where units are.
func copied(was, like *allocation.Plan, units []allocation.Unit, on []allocation.Shard) *allocation.Plan {
	out := allocation.New(on)
	for _, u := range slices.Backward(units) {
		out.Put(u)
		if at := like.On(u.ID); at != allocation.Nowhere {
			out.Assign(u.ID, on[at].Name)
		}
	}
	return out
}

// fair checks that no unit was moved to a shard that has many more units of its namespace than others.
func fair(t *testing.T, moves []allocation.Move, p *allocation.Plan, units []allocation.Unit, on []allocation.Shard) {
	t.Helper()
	type in struct{ namespace, zone string }
	type place struct {
		in
		shard int
	}
	all, of, count := map[in]int{}, map[allocation.ID]string{}, map[place]int{}
	for _, u := range units {
		all[in{u.Namespace, u.Zone}]++
		of[u.ID] = u.Zone
		if at := p.On(u.ID); at >= 0 {
			count[place{in{u.Namespace, u.Zone}, at}]++
		}
	}
	shards := map[string]int{}
	for _, s := range on {
		if !s.Draining {
			shards[s.Zone]++
		}
	}
	for _, m := range moves {
		key := in{m.Namespace, of[m.ID]}
		if got := count[place{key, m.To}]; got > 8+4*all[key]/shards[key.zone] {
			t.Fatalf("%d of %d units of %v are on shard %d of %d, and one more was put there", got, all[key], key, m.To, shards[key.zone])
		}
	}
}

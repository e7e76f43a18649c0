package allocation_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// prefers returns n keys that have the best score for the shard with this name, which a tenant can find.
func prefers(t *testing.T, n int, name string, all []allocation.Shard) (out []string) {
	t.Helper()
	for i := 0; len(out) < n; i++ {
		key := fmt.Sprintf("chosen-%d", i)
		p := allocation.New(all)
		p.Put(allocation.Unit{ID: allocation.ID{Namespace: "x", Key: key}})
		p.Settle(allocation.Limits{})
		if all[p.On(allocation.ID{Namespace: "x", Key: key})].Name == name {
			out = append(out, key)
		}
	}
	return out
}

// A tenant whose keys all prefer one shard cannot overload it, whatever the units weigh: the shard is not above the
// limit when they are placed, and it does not get most of the units, which could grow later.
func TestChosenKeys(t *testing.T) {
	on := shards(20)
	others := logNormal(8, 4000)
	keys := prefers(t, 400, on[7].Name, on)
	for _, series := range []uint64{0, 500, 50_000, 2_000_000} {
		p := planned(others, on)
		mean := total(others) / 20
		before := make([]int, len(others))
		for i, u := range others {
			before[i] = p.On(u.ID)
		}
		units := others
		for _, key := range keys {
			u := allocation.Unit{ID: allocation.ID{Namespace: "bad", Key: key}, Weight: allocation.WeightOf(series)}
			p.Put(u)
			p.Settle(allocation.Limits{}) // one at a time, so that the tenant sees where each is placed
			units = append(units, u)
		}
		consistent(t, p, units, on)
		for i, u := range others {
			if p.On(u.ID) != before[i] {
				t.Fatalf("%d series: %v moved", series, u.ID)
			}
		}
		mine := 0
		for _, u := range units[len(others):] {
			if p.On(u.ID) == 7 {
				mine++
			}
		}
		if most := 8 + 4*len(keys)/20; mine > most {
			t.Errorf("%d series: %d of %d chosen units are on the shard, more than %d", series, mine, len(keys), most)
		}
		if series == 0 && mine < 50 {
			t.Errorf("only %d of %d chosen units are on the shard: they were not chosen", mine, len(keys))
		}
		after := total(units) / 20
		for _, l := range p.Loads() {
			if l.Alone == 0 && l.Series > max(mean, after)*115/100+2*allocation.WeightOf(series).Series() {
				t.Errorf("%d series: %+v, the mean is %d", series, l, after)
			}
		}
		// Now they grow. The added load of the shard is proportional to the number of units on it.
		grown := allocation.WeightOf(uint64(40_000))
		for _, u := range units[len(others):] {
			u.Weight = grown
			p.Put(u)
		}
		if l := p.Loads()[7]; series == 0 && l.Series > mean*12/10+uint64(8+4*len(keys)/20)*grown.Series() {
			t.Errorf("grown: %+v", l)
		}
	}
}

// The same key in another namespace is another unit: a giant with the address of a victim takes it
// nowhere.
func TestKeyOfAnother(t *testing.T) {
	on := shards(10)
	units := logNormal(9, 2000)
	p := planned(units, on)
	victim := units[0]
	at := p.On(victim.ID)
	bad := allocation.Unit{ID: allocation.ID{Namespace: "bad", Key: victim.Key}, Weight: allocation.MaxWeight}
	p.Put(bad)
	p.Settle(allocation.Limits{})
	if p.On(victim.ID) != at {
		t.Error("the unit of the victim moved")
	}
	for range 5 {
		p.Settle(unlimited(on))
	}
	loads := p.Loads()
	if l := loads[p.On(bad.ID)]; l.Units != 1 {
		t.Errorf("the giant is not alone: %+v", l)
	}
	for i, l := range loads {
		if i != p.On(bad.ID) && (l.Over() || l.Mean > total(units)/9) {
			t.Errorf("shard %d has %+v after the giant came, all others %d together", i, l, total(units))
		}
	}
}

// A tenant with units of maximum weight on all shards but one cannot push all other units onto the last one: really
// heavy units take more load than they displace.
func TestManyGiants(t *testing.T) {
	on := shards(10)
	units := logNormal(10, 2000)
	before := total(units)
	for i := range 9 {
		units = append(units, allocation.Unit{ID: allocation.ID{Namespace: "bad", Key: fmt.Sprint(i)}, Weight: allocation.WeightOf(2 * before)})
	}
	p := planned(units, on)
	consistent(t, p, units, on)
	alone := 0
	for i, l := range p.Loads() {
		if l.Alone > 0 {
			alone++
		} else if l.Series > total(units)/10*105/100 {
			t.Errorf("shard %d has %+v of %d series", i, l, total(units))
		}
	}
	if alone != 9 {
		t.Errorf("%d giants have a shard of their own", alone)
	}
}

// The weight that a label claims counts within a factor of two of the counted series.
func TestEstimate(t *testing.T) {
	for _, tc := range []struct {
		claim, counted, median *uint64
		want                   uint64
	}{
		{nil, nil, nil, 500},
		{nil, nil, new(uint64(70)), 70},
		{nil, new(uint64(0)), new(uint64(70)), 0},
		{new(uint64(9)), nil, new(uint64(70)), 9},
		{new(uint64(math.MaxUint64)), nil, nil, 1 << 20},
		{new(uint64(math.MaxUint64)), new(uint64(1000)), nil, 2000},
		{new(uint64(math.MaxUint64)), new(uint64(math.MaxUint64)), nil, math.MaxUint64 - 1},
		{new(uint64(0)), new(uint64(1000)), nil, 500},
		{new(uint64(1200)), new(uint64(1000)), nil, 1200},
		{new(uint64(1000)), new(uint64(0)), nil, 0},
	} {
		if got := allocation.Estimate(tc.claim, tc.counted, tc.median); got != tc.want {
			t.Errorf("%v: %d, want %d", tc, got, tc.want)
		}
	}
}

// Weights of any number are in range, close to it, and do not flap.
func FuzzWeight(f *testing.F) {
	for _, series := range []uint64{0, 1, 2, 3, 500, 707, 708, 1 << 30, 1<<30 + 1, math.MaxUint64} {
		f.Add(series, uint8(9))
	}
	f.Fuzz(func(t *testing.T, series uint64, was uint8) {
		w := allocation.WeightOf(series)
		in := float64(min(max(series, 1), 1<<30))
		if ratio := float64(w.Series()) / in; w > allocation.MaxWeight || ratio > 1.5 || ratio < 1/1.5 {
			t.Fatalf("%d series have weight %d, which is %d", series, w, w.Series())
		}
		if series > 3 && series < 1<<30 && (float64(w.Series())/in > 1.22 || float64(w.Series())/in < 1/1.22) {
			t.Fatalf("%d series have weight %d, which is %d", series, w, w.Series())
		}
		follow := min(allocation.Weight(was), allocation.MaxWeight).Follow(series)
		if follow.Follow(series) != follow {
			t.Fatalf("%d series have weight %d, and then %d", series, follow, follow.Follow(series))
		}
		if w.Follow(series) != w {
			t.Fatalf("%d series have weight %d, and then %d", series, w, w.Follow(series))
		}
	})
}

// A million tiny units of a namespace are spread like those of others, and their plan is as cheap: a hash of each for
// each shard. A change of one unit costs the work for one unit, also if keys collide.
func TestMillionUnits(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	on := shards(200)
	p := allocation.New(on)
	for i := range n {
		p.Put(allocation.Unit{ID: allocation.ID{Namespace: "many", Key: fmt.Sprint(i)}})
	}
	for _, u := range logNormal(11, 1000) {
		p.Put(u)
	}
	p.Settle(allocation.Limits{})
	if c := p.Cost(); c.Hashes > (n+1000)*200 || c.Visits > (n+1000)*202 {
		t.Errorf("cost %+v", c)
	}
	for _, l := range p.Loads() {
		if l.Over() {
			t.Errorf("%+v", l)
		}
	}
	before := p.Cost()
	p.Put(allocation.Unit{ID: allocation.ID{Namespace: "many", Key: "5"}, Weight: 9})
	p.Put(allocation.Unit{ID: allocation.ID{Namespace: "other", Key: "5"}, Weight: 9})
	p.Remove(allocation.ID{Namespace: "many", Key: "7"})
	p.Settle(allocation.Limits{})
	if c := p.Cost(); c.Hashes-before.Hashes > 200 || c.Visits-before.Visits > 201 {
		t.Errorf("a change of three units costs %d hashes and %d visits", c.Hashes-before.Hashes, c.Visits-before.Visits)
	}
}

// Removed zones and units use no memory, because a tenant chooses the names of both.
func TestChurnLeavesNothing(t *testing.T) {
	p := allocation.New(shards(3))
	churn := func(round int) {
		for i := range 50 {
			u := allocation.Unit{ID: allocation.ID{Namespace: fmt.Sprint("n", round), Key: fmt.Sprint(i)}, Zone: fmt.Sprint("z", round%7)}
			p.Put(u)
			if i%2 == 0 {
				u.Zone = ""
				p.Put(u)
			}
			defer p.Remove(u.ID)
		}
		p.Settle(allocation.Limits{})
	}
	for round := range 1000 {
		churn(round)
	}
	if got := p.Held(); got > 200 {
		t.Errorf("after all units are gone, %d entries are left", got)
	}
	if l := p.Loads(); l[0].Units+l[1].Units+l[2].Units != 0 || p.Stranded() != 0 {
		t.Errorf("%+v, %d stranded", l, p.Stranded())
	}
}

// Keys with the same hash are placed independently of their order: xxhash is not secure against chosen collisions, so
// ties are broken by the keys.
func TestEqualHashes(t *testing.T) {
	// Equal keys of two namespaces have equal hashes, too.
	key := "10.0.0.1:80"
	if xxhash.Sum64String(key) == 0 {
		t.Fatal("unexpected hash")
	}
	on := shards(5)
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}} {
		p := allocation.New(on)
		for _, namespace := range order {
			p.Put(allocation.Unit{ID: allocation.ID{Namespace: namespace, Key: key}, Weight: 20})
		}
		moves := p.Settle(unlimited(on))
		if len(moves) != 3 || moves[0].Namespace != "a" || moves[1].Namespace != "b" || moves[2].Namespace != "c" {
			t.Errorf("%v: %+v", order, moves)
		}
	}
}

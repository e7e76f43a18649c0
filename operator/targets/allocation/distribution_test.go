package allocation_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// unlimited lets a Settle fill and relieve all shards.
func unlimited(shards []allocation.Shard) allocation.Limits {
	out := allocation.Limits{Fill: true, Series: math.MaxUint64, Whole: true}
	for _, s := range shards {
		out.Relieve = append(out.Relieve, s.Name)
	}
	return out
}

// shards returns n shards.
func shards(n int) (out []allocation.Shard) {
	for i := range n {
		name := "prometheus-k8s"
		if i > 0 {
			name = fmt.Sprintf("prometheus-k8s-shard-%d", i)
		}
		out = append(out, allocation.Shard{Name: name})
	}
	return out
}

// logNormal returns units with 400 series in the median, of which one in 2,000 has fifty times as many.
func logNormal(seed uint64, n int) (out []allocation.Unit) {
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range n {
		series := 400 * math.Exp(1.3*r.NormFloat64())
		if r.IntN(2000) == 0 {
			series *= 50
		}
		out = append(out, unit(i, uint64(series)))
	}
	return out
}

// zipf returns units of which a few have most series.
func zipf(seed uint64, n int) (out []allocation.Unit) {
	z := rand.NewZipf(rand.New(rand.NewPCG(seed, 3)), 1.5, 100, 1_000_000)
	for i := range n {
		out = append(out, unit(i, 50+z.Uint64()))
	}
	return out
}

func unit(i int, series uint64) allocation.Unit {
	return allocation.Unit{
		ID:     allocation.ID{Namespace: fmt.Sprintf("team-%d", i%50), Key: fmt.Sprintf("10.%d.%d.%d:8080", i>>16, i>>8&255, i&255)},
		Weight: allocation.WeightOf(series),
	}
}

// distribution is a distribution of weights, with bounds that hold for it.
type distribution struct {
	units func(seed uint64, n int) []allocation.Unit
	// besides is the maximum fraction of all series that moves off other shards when one shard is removed.
	besides float64
	// remembered is the minimum fraction of all series that stays in a new plan, after growth by a fifth.
	remembered float64
}

var distributions = map[string]distribution{"log-normal": {logNormal, 0.015, 0.9}, "zipf": {zipf, 0.025, 0.7}}

// planned returns the plan of units from the beginning.
func planned(units []allocation.Unit, on []allocation.Shard) *allocation.Plan {
	p := allocation.New(on)
	for _, u := range units {
		p.Put(u)
	}
	p.Settle(unlimited(on))
	return p
}

func total(units []allocation.Unit) (sum uint64) {
	for _, u := range units {
		sum += u.Weight.Series()
	}
	return sum
}

func heaviest(units []allocation.Unit) (most uint64) {
	for _, u := range units {
		most = max(most, u.Weight.Series())
	}
	return most
}

// moved returns the fraction of all series that moves between shards.
func moved(moves []allocation.Move, units []allocation.Unit) float64 {
	var sum uint64
	for _, m := range moves {
		if m.From != allocation.Nowhere {
			sum += m.Weight.Series()
		}
	}
	return float64(sum) / float64(total(units))
}

// spread returns the largest of the loads by their mean, of shards that have no unit that needs one of
// its own.
func spread(p *allocation.Plan) float64 {
	worst := 0.0
	for _, l := range p.Loads() {
		if l.Mean > 0 && !l.Draining {
			worst = max(worst, 1+float64(l.Excess())/float64(l.Mean))
		}
	}
	return worst
}

// consistent checks that each unit is on exactly one shard that may have it, and that loads are sums.
func consistent(t *testing.T, p *allocation.Plan, units []allocation.Unit, on []allocation.Shard) {
	t.Helper()
	zones := map[string]int{}
	for _, s := range on {
		if !s.Draining {
			zones[s.Zone]++
		}
	}
	series, n, stranded := make([]uint64, len(on)), make([]int, len(on)), 0
	for _, u := range units {
		at := p.On(u.ID)
		if zones[u.Zone] == 0 {
			stranded++
			if at != allocation.Nowhere && (!on[at].Draining || on[at].Zone != u.Zone) {
				t.Fatalf("%v is on shard %d, and its zone %q has none", u.ID, at, u.Zone)
			}
		} else if at == allocation.Nowhere || on[at].Draining || on[at].Zone != u.Zone {
			t.Fatalf("%v of zone %q is on shard %d", u.ID, u.Zone, at)
		}
		if at != allocation.Nowhere {
			series[at] += u.Weight.Series()
			n[at]++
		}
	}
	for i, l := range p.Loads() {
		if l.Series != series[i] || l.Units != n[i] || l.Shard != on[i].Name {
			t.Fatalf("shard %d has %+v, want %d series of %d units", i, l, series[i], n[i])
		}
	}
	if got := p.Stranded(); got != stranded {
		t.Fatalf("%d units are stranded, want %d", got, stranded)
	}
}

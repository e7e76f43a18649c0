package allocation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// Two days in which each hour 2 % of the units get up to 40 % heavier or lighter, and 1 % are replaced, move
// little, and shards stay even (P4, P7).
func TestTwoDaysOfDrift(t *testing.T) {
	n, each := 50, 2000
	if testing.Short() {
		n, each = 20, 500
	}
	on := shards(n)
	units := logNormal(12, n*each)
	p := planned(units, on)
	r := rand.New(rand.NewPCG(12, 12))
	var pace allocation.Pace
	now := time.Unix(1_700_000_000, 0)
	type relief struct {
		at     time.Time
		series uint64
	}
	var last []relief
	var moves int
	var worst, most, sum float64
	next := len(units)
	series := make([]float64, len(units)) // current series, from which weights follow
	for i, u := range units {
		series[i] = float64(u.Weight.Series())
	}
	for minute := range 48 * 60 {
		now = now.Add(time.Minute)
		for range len(units) * 2 / 100 / 60 {
			i := r.IntN(len(units))
			series[i] *= 0.6 + 0.8*r.Float64()
			units[i].Weight = units[i].Weight.Follow(uint64(series[i]))
			p.Put(units[i])
		}
		for range len(units) / 100 / 60 {
			i := r.IntN(len(units))
			p.Remove(units[i].ID)
			units[i].ID = unit(next, 0).ID
			next++
			p.Put(units[i])
		}
		limits := pace.Limits(now, p.Loads())
		done := p.Settle(limits)
		pace.Moved(now, done)
		for _, m := range done {
			if m.Why == allocation.Relieve {
				last = append(last, relief{now, m.Weight.Series()})
			}
			if m.Why != allocation.Place {
				moves++
				sum += float64(m.Weight.Series())
			}
		}
		for len(last) > 0 && now.Sub(last[0].at) >= time.Hour {
			last = last[1:]
		}
		var hour uint64
		for _, l := range last {
			hour += l.series
		}
		part := float64(hour) / float64(total(units))
		most = max(most, part)
		if part > 0.0101 && len(last) > 1 {
			t.Fatalf("minute %d: %.4f of all series moved in an hour", minute, part)
		}
		worst = max(worst, spread(p))
	}
	consistent(t, p, units, on)
	if worst > 1.15 {
		t.Errorf("a shard had %.3f of the mean", worst)
	}
	t.Logf("%d units on %d shards: %.4f %% of the units move in an hour, at most %.2f %% of the series; the fullest shard had %.3f of the mean",
		len(units), n, 100*float64(moves)/48/float64(len(units)), 100*most, worst)
	if perHour := float64(moves) / 48 / float64(len(units)); perHour > 0.001 {
		t.Errorf("%.5f of the units move each hour", perHour)
	}
}

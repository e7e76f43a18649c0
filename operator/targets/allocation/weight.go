package allocation

import (
	"math"
	"slices"
)

// Weight is the number of series of a unit, in powers of √2: weight n is for 2^(n/2) series. It has
// few values, so that noise does not change it.
type Weight uint8

// MaxWeight is the largest weight: 2^30 series or more.
const MaxWeight Weight = 60

// Series of targets without any information, and the maximum that a label may claim for a target whose series
// were not counted yet.
const (
	defaultSeries = 500
	maxClaim      = 1 << 20
)

// weights are the series of each weight.
var weights = func() (out [MaxWeight + 1]uint64) {
	for w := range out {
		out[w] = uint64(math.Round(math.Sqrt(float64(uint64(1) << w)))) // exact: both are IEEE operations
	}
	return out
}()

// WeightOf returns the weight that is closest to a number of series. It is at least that of one series, because
// a target without series still costs a scrape.
func WeightOf(series uint64) Weight {
	at, exact := slices.BinarySearch(weights[:], series)
	switch {
	case exact || at == 0:
		return Weight(at)
	case at > int(MaxWeight):
		return MaxWeight
	case series-weights[at-1] < weights[at]-series:
		return Weight(at - 1)
	}
	return Weight(at)
}

// Series returns the number of series that the weight is for.
func (w Weight) Series() uint64 { return weights[min(w, MaxWeight)] }

// Follow returns the new weight of a unit that had weight w and now has this number of series. It stays w while
// they differ by less than √2, so that a unit between two weights does not flap.
func (w Weight) Follow(series uint64) Weight {
	series = min(max(series, 1), MaxWeight.Series())
	had := w.Series()
	if series*series < 2*had*had && 2*series*series > had*had {
		return w
	}
	return WeightOf(series)
}

// Estimate returns the number of series of a target; nil arguments are unknown. claim is the value of the label
// __tmp_shard_weight, counted the number in its scrapes, median the median of its job.
func Estimate(claim, counted, median *uint64) uint64 {
	switch {
	case claim != nil && counted != nil:
		most := min(*counted, math.MaxUint64/2) * 2
		return min(max(*claim, *counted/2), most)
	case claim != nil:
		return min(*claim, maxClaim)
	case counted != nil:
		return *counted
	case median != nil:
		return *median
	}
	return defaultSeries
}

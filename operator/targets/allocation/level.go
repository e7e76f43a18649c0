package allocation

import "math/bits"

// Thresholds, in thousandths of the mean.
const (
	capacity  = 1050 // 1+ε: a shard is filled up to that, and heavier units need one of their own
	low       = 900  // 1-hi: a shard below that is filled,
	filled    = 950  // 1-ε: up to that,
	donates   = 975  // 1-ε/2: by shards that have more than that afterwards
	relieved  = 1075 // until it has that
	high      = 1100 // 1+hi: a shard above that is relieved
	thousands = 1000
)

// level determines the mean number of series of the shards of a zone.
type level struct {
	// total and shards are those of the zone, without the units that need a shard of their own.
	total  uint64
	shards int
	// giant is the lowest weight that needs a shard of its own, MaxWeight+1 if no unit does.
	giant Weight
}

// level returns the level of a zone that has shards. A unit above the mean plus ε gets a shard of its own; both
// are excluded, which lowers the mean of the others. This repeats until no such unit is left.
func (p *Plan) level(z *zone) level {
	l := level{total: z.total, shards: len(z.shards), giant: MaxWeight + 1}
	for w := int(MaxWeight); w >= 0; w-- {
		n := int(z.classes[w])
		if n == 0 {
			continue
		}
		if l.shards == 1 || Weight(w).Series() <= l.part(capacity) {
			break
		}
		// Excluding one of them leaves the others of the same weight above the mean.
		n = min(n, l.shards-1)
		l.giant = Weight(w)
		l.total -= uint64(n) * Weight(w).Series()
		l.shards -= n
	}
	return l
}

// part returns a number of thousandths of the mean, rounded down.
func (l level) part(thousandths uint64) uint64 {
	out, _ := l.divide(thousandths)
	return out
}

// least returns a number of thousandths of the mean, rounded up.
func (l level) least(thousandths uint64) uint64 {
	out, rest := l.divide(thousandths)
	if rest > 0 {
		out++
	}
	return out
}

func (l level) divide(thousandths uint64) (out, rest uint64) {
	hi, lo := bits.Mul64(l.total, thousandths)
	return bits.Div64(hi, lo, thousands*uint64(l.shards))
}

// giants returns the heaviest unit of the shard among those that need a shard of their own, if there is one.
func (s *shard) giants(l level) (heaviest Weight, ok bool) {
	for w := int(MaxWeight); w >= int(l.giant); w-- {
		if s.classes[w] > 0 {
			return Weight(w), true
		}
	}
	return 0, false
}

// Load is the load of a shard.
type Load struct {
	Shard    string
	Draining bool
	Series   uint64
	Units    int
	// Mean is the mean of the shards of its zone, without units that need a shard of their own.
	Mean uint64
	// Alone is the number of series of its unit that needs a shard of its own; 0 if there is none.
	Alone uint64
}

// Excess returns the number of series above the desired load: the mean, or the unit that needs a shard of its
// own.
func (l Load) Excess() uint64 {
	should := max(l.Mean, l.Alone)
	return max(l.Series, should) - should
}

// Over reports whether the excess of the shard is large enough to relieve it.
func (l Load) Over() bool { return !l.Draining && l.Excess()*thousands > l.Mean*(high-thousands) }

// Loads returns the loads of all shards.
func (p *Plan) Loads() []Load {
	levels := map[string]level{}
	out := make([]Load, 0, len(p.shards))
	for i := range p.shards {
		s := &p.shards[i]
		z := p.zones[s.Zone]
		load := Load{Shard: s.Name, Draining: s.Draining, Series: s.load, Units: s.units}
		if len(z.shards) > 0 {
			l, ok := levels[s.Zone]
			if !ok {
				l = p.level(z)
				levels[s.Zone] = l
			}
			load.Mean = l.part(thousands)
			if w, ok := s.giants(l); ok {
				load.Alone = w.Series()
			}
		}
		out = append(out, load)
	}
	return out
}

package allocation

import (
	"slices"
	"time"
)

// Pace limits how often units with a shard move. Until the old shard has written its head block, each moved
// series exists on both shards.
type Pace struct {
	filled  time.Time
	over    map[string]time.Time // shards that have too many, since when
	relieve []relief             // of the last hour
}

type relief struct {
	at     time.Time
	series uint64
}

const (
	fillEvery     = 2 * time.Hour
	overFor       = 15 * time.Minute
	relieveWithin = time.Hour
	relievePart   = 100 // one part in so many of all series
)

// Limits returns the limits of a Settle at the time now. It is called at least every minute with the current loads.
// Shards are filled immediately the first time, and then every two hours. A shard that has been overloaded for 15
// minutes is relieved; in any hour, at most 1 % of all series move, or one unit that is heavier than that.
func (p *Pace) Limits(now time.Time, loads []Load) Limits {
	out := Limits{Fill: p.filled.IsZero() || now.Sub(p.filled) >= fillEvery}
	var total uint64
	over := map[string]time.Time{}
	for _, l := range loads {
		total += l.Series
		if !l.Over() {
			continue
		}
		since, known := p.over[l.Shard]
		if !known {
			since = now
		}
		over[l.Shard] = since
		if now.Sub(since) >= overFor {
			out.Relieve = append(out.Relieve, l.Shard)
		}
	}
	p.over = over
	p.relieve = slices.DeleteFunc(p.relieve, func(r relief) bool { return now.Sub(r.at) >= relieveWithin })
	out.Series, out.Whole = total/relievePart, len(p.relieve) == 0
	for _, r := range p.relieve {
		out.Series -= min(out.Series, r.series)
	}
	return out
}

// Moved records the moves of a Settle.
func (p *Pace) Moved(now time.Time, moves []Move) {
	var series uint64
	for _, m := range moves {
		switch m.Why {
		case Fill:
			p.filled = now
		case Relieve:
			series += m.Weight.Series()
		}
	}
	if series > 0 {
		p.relieve = append(p.relieve, relief{now, series})
	}
}

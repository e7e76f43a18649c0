package targetset

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// AllShards is the Shard of a filter that does not select by shard.
const AllShards = -1

// Filter selects targets.
type Filter struct {
	// State that is selected; empty for all.
	State targets.State
	// Origin is a prefix of the origin of the step that drops a target; empty for all.
	Origin string
	// Skip is a prefix of the origin of steps whose dropped targets are not selected; empty for none.
	Skip string
	// Shard is the requested shard: targets that only other shards scrape are in state OtherShard.
	Shard int
}

// Keys returns the keys of the first groups after a key that may have targets selected by a filter,
// in order. nil starts at the beginning.
func (s *Set) Keys(after *Key, most int, f Filter) (out []Key) {
	over := make([]bool, len(s.shards))
	for shard := range over {
		over[shard] = s.isOver(shard)
	}
	last := func() { // sorts out and truncates it
		slices.SortFunc(out, Key.Compare)
		out = out[:min(len(out), most)]
	}
	full := false // out has enough keys and is sorted
	add := func(key Key, has func() bool) {
		if after != nil && key.Compare(*after) <= 0 || full && key.Compare(out[most-1]) > 0 || !has() {
			return
		}
		if out = append(out, key); len(out) >= 4*most {
			last()
			full = true
		}
	}
	for key, p := range s.parts {
		add(key, func() bool { return s.has(p, f, over) })
	}
	for key, d := range s.wholes.all() {
		add(key, func() bool { return s.hasWhole(d, f) })
	}
	last()
	return out
}

// hasWhole reports whether a filter selects the targets of a group that one step drops.
func (s *Set) hasWhole(d drops, f Filter) bool {
	switch f.State {
	case targets.Dropped:
		return f.selects(s.job.Origins[d.step].Path)
	case "":
		return f.Origin == "" && f.Skip == "" || f.selects(s.job.Origins[d.step].Path)
	}
	return false
}

// has reports whether a group may have targets that a filter selects.
func (s *Set) has(p *part, f Filter, over []bool) bool {
	kept := func(is func(*entry) bool) bool {
		for i := range p.kept {
			if is(&p.kept[i]) {
				return true
			}
		}
		return false
	}
	switch f.State {
	case targets.Dropped:
		return slices.ContainsFunc(p.dropped, func(d drops) bool { return s.hasWhole(d, f) })
	case targets.Invalid:
		return p.invalid > 0
	case targets.Unknown:
		return p.unknown > 0
	case targets.Duplicate:
		return p.duplicates > 0 || kept(func(e *entry) bool { return e.wins == 0 })
	case targets.Kept:
		return kept(func(e *entry) bool { return e.wins > 0 && (f.Shard == AllShards || s.scrapes(f.Shard, e, over)) })
	case targets.OtherShard:
		return f.Shard != AllShards && kept(func(e *entry) bool {
			return e.wins > 0 && s.holders.scrapedBeside(e, over) && !s.scrapes(f.Shard, e, over)
		})
	case targets.OverLimit:
		return kept(func(e *entry) bool { return e.wins > 0 && !s.holders.scrapedBeside(e, over) })
	case "":
		return f.Origin == "" && (f.Skip == "" || len(p.kept)+p.invalid+p.unknown+p.duplicates > 0) ||
			s.has(p, Filter{State: targets.Dropped, Origin: f.Origin, Skip: f.Skip, Shard: f.Shard}, over)
	}
	return false
}

// scrapes reports whether a shard scrapes an entry.
func (s *Set) scrapes(shard int, e *entry, over []bool) bool {
	return slices.ContainsFunc(e.holds, func(h hold) bool { return h.shard == shard && s.holders.one[h] == e && !over[shard] })
}

// Result returns the result for the targets of a group among all other groups. The group may be
// newer than the one in the set.
func (s *Set) Result(key Key, group *targetgroup.Group, shard int) targets.Result {
	result, outcomes := s.job.Group(group)
	p := &part{key: key}
	for i, o := range outcomes {
		if o.State != targets.Kept {
			continue
		}
		e := s.newEntry(p, o)
		row := &result.Rows[i]
		row.Shards = nil
		lost := true
		for _, h := range e.holds {
			if first := s.holders.one[h]; first == nil || first.part.key == key {
				if lost = false; !s.isOver(h.shard) {
					row.Shards = append(row.Shards, h.shard)
				}
			}
		}
		switch {
		case lost:
			result.Elsewhere(i)
		case len(row.Shards) == 0:
			result.Beyond(i)
		case shard != AllShards && !slices.Contains(row.Shards, shard):
			row.State = targets.OtherShard
		}
	}
	return result
}

// selects reports whether a filter selects targets that a step with an origin drops.
func (f Filter) selects(origin string) bool {
	return strings.HasPrefix(origin, f.Origin) && (f.Skip == "" || !strings.HasPrefix(origin, f.Skip))
}

// Selects reports whether a filter selects a row.
func (f Filter) Selects(row *targets.Row) bool {
	if row.Drop != nil && !f.selects(row.Drop.Origin) {
		return false
	}
	if f.Origin != "" && row.Drop == nil {
		return false
	}
	return f.State == "" || f.State == row.State
}

// Total returns the number of targets that a filter selects.
func (c Counts) Total(f Filter) (n int) {
	dropped, skipped := 0, 0
	for origin, of := range c.Dropped {
		if f.selects(origin) {
			dropped += of
		} else {
			skipped += of
		}
	}
	on := c.States[targets.Kept]
	if f.Shard != AllShards {
		on = 0
		if f.Shard < len(c.Shards) {
			on = c.Shards[f.Shard]
		}
	}
	switch {
	case f.State == targets.Dropped || f.Origin != "" && f.State == "":
		return dropped
	case f.Origin != "":
		return 0
	case f.State == targets.Kept:
		return on
	case f.State == targets.OtherShard:
		return c.States[targets.Kept] - on
	case f.State != "":
		return c.States[f.State]
	}
	for _, of := range c.States {
		n += of
	}
	return n - skipped // without Origin, only Skip leaves any out
}

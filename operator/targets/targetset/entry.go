package targetset

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// entry is a target that would be scraped if its group were the only one.
type entry struct {
	part  *part
	index int
	holds []hold
	wins  int // number of holds in which it is the first entry
}

// hold is a slot among the targets of a shard, identified by a hash of labels and URL.
type hold struct {
	shard int
	hash  uint64
}

func (e *entry) compare(o *entry) int {
	return cmp.Or(e.part.key.Compare(o.part.key), cmp.Compare(e.index, o.index))
}

// holders has the entries of each hold, of which the first one is scraped. Most holds have one
// entry.
type holders struct {
	seed   maphash.Seed // random, so that labels cannot be chosen to collide
	one    map[hold]*entry
	others map[hold][]*entry // entries after the first, in order
}

func newHolders() holders {
	return holders{maphash.MakeSeed(), map[hold]*entry{}, map[hold][]*entry{}}
}

func (s *Set) newEntry(p *part, o targets.Outcome) entry {
	e := entry{part: p, index: len(p.kept), holds: make([]hold, len(o.Shards))}
	var h maphash.Hash
	for i, shard := range o.Shards {
		h.SetSeed(s.holders.seed)
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(shard)))
		_, _ = h.WriteString(o.Keys[i])
		e.holds[i] = hold{shard, h.Sum64()}
	}
	return e
}

// enter adds an entry to its holds.
func (s *Set) enter(e *entry) {
	s.duplicates++ // until it wins
	for _, h := range e.holds {
		first := s.holders.one[h]
		if first == nil {
			s.shards[h.shard]++
			s.holders.one[h] = e
			s.win(e)
			continue
		}
		others := s.holders.others[h]
		if e.compare(first) < 0 {
			s.holders.others[h] = append([]*entry{first}, others...)
			s.holders.one[h] = e
			s.lose(first)
			s.win(e)
			continue
		}
		at, _ := slices.BinarySearchFunc(others, e, (*entry).compare)
		s.holders.others[h] = slices.Insert(others, at, e)
	}
}

// leave removes an entry from its holds.
func (s *Set) leave(e *entry) {
	for _, h := range e.holds {
		others := s.holders.others[h]
		switch {
		case s.holders.one[h] != e:
			others = slices.DeleteFunc(others, func(o *entry) bool { return o == e })
		case len(others) == 0:
			s.shards[h.shard]--
			delete(s.holders.one, h)
			s.lose(e)
		default:
			s.holders.one[h] = others[0]
			s.lose(e)
			s.win(others[0])
			others = slices.Delete(others, 0, 1)
		}
		if s.holders.others[h] = others; len(others) == 0 {
			delete(s.holders.others, h)
		}
	}
	s.duplicates--
}

func (s *Set) win(e *entry) {
	if e.wins++; e.wins == 1 {
		s.kept++
		s.duplicates--
	}
}

func (s *Set) lose(e *entry) {
	if e.wins--; e.wins == 0 {
		s.kept--
		s.duplicates++
	}
}

// scrapedBeside reports whether a shard that is not over the limit scrapes the entry.
func (h *holders) scrapedBeside(e *entry, over []bool) bool {
	return slices.ContainsFunc(e.holds, func(at hold) bool { return h.one[at] == e && !over[at.shard] })
}

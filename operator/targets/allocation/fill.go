package allocation

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// fill moves units to shards with too few series, from shards that are not far below the mean. It prefers the
// units with the best score for the shard, which a plan from scratch would most likely place there.
func (p *Plan) fill(z *zone, l level) (moves []Move) {
	var receivers []int32
	below := l.least(low)
	for _, i := range z.shards {
		if p.shards[i].load < below {
			receivers = append(receivers, i)
		}
	}
	slices.SortFunc(receivers, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.shards[a].load, p.shards[b].load), cmp.Compare(p.shards[a].hash, p.shards[b].hash), cmp.Compare(p.shards[a].Name, p.shards[b].Name))
	})
	for _, to := range receivers {
		moves = append(moves, p.fillOne(z, l, to)...)
	}
	return moves
}

// fillOne fills one shard. It first considers only units with low scores, of which there are slightly more than
// needed on average, and raises the limit until the shard is full.
func (p *Plan) fillOne(z *zone, l level, to int32) (moves []Move) {
	s, enough, floor := &p.shards[to], l.least(filled), l.least(donates)
	most := l.part(thousands)
	if enough <= s.load {
		return nil
	}
	for below := share(4*(enough-s.load), z.total); ; {
		for _, slot := range p.donors(z, l, to, below) {
			w, from := p.weight[slot].Series(), &p.shards[p.on[slot]]
			if s.load >= enough {
				break
			}
			if t := p.of[slot]; from.load >= floor+w && s.load+w <= most && t.on[to] < t.most() {
				moves = append(moves, p.move(slot, to, Fill))
			}
		}
		switch {
		case s.load >= enough || below == math.MaxUint64:
			return moves
		case below > math.MaxUint64/4:
			below = math.MaxUint64
		default:
			below *= 4
		}
	}
}

// share returns part/all of the range of scores.
func share(part, all uint64) uint64 {
	if part >= all {
		return math.MaxUint64 // all
	}
	out, _ := bits.Div64(part, 0, all)
	return max(out, 1)
}

// donors returns the units that may move to a shard and whose score for it is at most limit, lowest score
// first.
func (p *Plan) donors(z *zone, l level, to int32, limit uint64) []int32 {
	type entry struct {
		other bool // prefers the shard on which it is
		score uint64
		slot  int32
	}
	var entries []entry
	floor := l.least(donates)
	gives := make([]bool, len(p.shards))
	for _, i := range z.shards {
		gives[i] = i != to && p.shards[i].load > floor
	}
	hash := p.shards[to].hash
	p.cost.Visits += len(p.on)
	for slot, at := range p.on {
		if at == Nowhere || !gives[at] || p.weight[slot] >= l.giant {
			continue
		}
		p.cost.Hashes++
		if x := score(p.hashes[slot], hash); x <= limit {
			p.cost.Hashes++
			entries = append(entries, entry{x > score(p.hashes[slot], p.shards[at].hash), x, int32(slot)})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.other != b.other {
			if a.other {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.score, b.score), p.ids[a.slot].Compare(p.ids[b.slot]))
	})
	out := make([]int32, len(entries))
	for i := range entries {
		out[i] = entries[i].slot
	}
	return out
}

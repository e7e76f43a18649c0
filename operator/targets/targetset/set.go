package targetset

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Key identifies a group by the discovery of the job that found it and its source.
type Key struct {
	Discovery int
	Source    string
}

// Compare defines the order of groups in lists.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Discovery, o.Discovery), cmp.Compare(k.Source, o.Source))
}

// static is the discovery of static_configs, which come last.
const static = 1 << 30

// Observer is called with each group that a set evaluates, and the outcome of each of its targets. The
// group is nil if it was removed. Calls are not concurrent.
type Observer func(key Key, group *targetgroup.Group, outcomes []targets.Outcome)

// Set has the evaluated groups of a job. It is not safe for concurrent use.
type Set struct {
	job     *targets.Job
	observe Observer // nil: none
	budget  *Budget  // nil: no limit
	owner   string   // namespace that the room counts it for
	bytes   int      // taken from the room
	needed  int      // bytes that it had and wanted when there was no room
	closed  bool     // it ignores changes
	// evicted is true if the budget did not suffice for the set. It is empty then, and ignores changes.
	evicted atomic.Bool
	parts   map[Key]*part
	wholes  *wholes // which are in no part
	holders holders

	kept, duplicates, invalid, unknown int
	dropped                            []int // by step, from 0
	shards                             []int // number of targets of each shard
}

// part has the evaluated targets of one group that are not all dropped by the same step.
type part struct {
	key                          Key
	since                        time.Time // time of the last change
	kept                         []entry
	dropped                      []drops // by step
	invalid, duplicates, unknown int
}

// drops is the number of targets that a step drops. Steps are counted from 0.
type drops struct{ step, targets int32 }

// newSet returns the set of a job, with the targets of its static_configs.
func newSet(j *targets.Job) *Set { return observed(j, "", nil, nil) }

// observed is like newSet, with an observer, and a budget that counts it for a namespace.
func observed(j *targets.Job, owner string, room *Budget, observe Observer) *Set {
	s := &Set{job: j, observe: observe, budget: room, owner: owner, parts: map[Key]*part{}, wholes: &wholes{}, holders: newHolders(), dropped: make([]int, len(j.Origins)), shards: make([]int, j.Shards())}
	runtime.AddCleanup(s, (*wholes).clear, s.wholes) // a set that was closed can still be read
	for i, group := range j.Static {
		s.Put(staticKey(i), group)
	}
	return s
}

func staticKey(i int) Key { return Key{static, fmt.Sprintf("%09d", i)} }

// Put replaces a group; nil removes it. It reports whether the result for any target changed.
func (s *Set) Put(key Key, group *targetgroup.Group) (changed bool) {
	if s.closed || s.evicted.Load() {
		return false
	}
	return s.put(key, group, s.outcomes(group, nil))
}

// outcomes evaluates a group, in turns if share is not nil. It needs no lock.
func (s *Set) outcomes(group *targetgroup.Group, share func(slow bool)) []targets.Outcome {
	switch {
	case group == nil || len(group.Targets) == 0:
		return nil
	case share == nil:
		return s.job.Outcomes(group)
	}
	return s.job.OutcomesInTurns(group, share)
}

// put is like Put for a group with these outcomes.
func (s *Set) put(key Key, group *targetgroup.Group, outcomes []targets.Outcome) (changed bool) {
	if s.closed || s.evicted.Load() {
		return false
	}
	next := s.partOf(key, group, outcomes)
	if whole, is := next.whole(); is {
		return s.replace(key, nil, whole)
	}
	return s.replace(key, next, drops{})
}

// drop replaces a group by one of which one step drops all targets. It reports whether that is a change.
func (s *Set) drop(key Key, whole drops) (changed bool) {
	if s.closed || s.evicted.Load() {
		return false
	}
	if s.observe != nil && s.parts[key] != nil {
		s.observe(key, nil, nil)
	}
	return s.replace(key, nil, whole)
}

// replace replaces the result of a group by a part, or by the targets that one step drops.
func (s *Set) replace(key Key, next *part, whole drops) (changed bool) {
	before := s.parts[key]
	dropped, more := s.wholes.put(key, whole)
	if dropped == whole && before.same(next) {
		return false
	}
	shards := len(s.shards)
	if more += next.bytes(shards) - before.bytes(shards); !s.take(more) {
		s.evict(more)
		return true
	}
	if before != nil {
		s.count(before, -1)
		delete(s.parts, key)
	}
	if dropped.targets > 0 {
		s.dropped[dropped.step] -= int(dropped.targets)
	}
	if next != nil {
		next.since = time.Now()
		s.parts[key] = next
		s.count(next, 1)
	}
	if whole.targets > 0 {
		s.dropped[whole.step] += int(whole.targets)
	}
	return true
}

// take takes bytes of the budget, and reports whether it has them.
func (s *Set) take(n int) bool {
	if !s.budget.Take(s.owner, n) {
		return false
	}
	s.bytes += n
	return true
}

// evict removes all groups, because there is no room for them and more bytes, and ignores changes from now on. The
// observer is not called: its copies of the groups become outdated.
func (s *Set) evict(more int) {
	s.wholes.clear()
	s.parts, s.holders, s.dropped, s.shards = map[Key]*part{}, newHolders(), make([]int, len(s.dropped)), make([]int, len(s.shards))
	s.kept, s.duplicates, s.invalid, s.unknown = 0, 0, 0, 0
	s.evicted.Store(true)
	s.needed = s.bytes + more
	s.release()
}

// close releases the memory. The content of the set can still be read.
func (s *Set) close() {
	s.closed = true
	s.release()
}

// release returns the bytes of the set to the budget.
func (s *Set) release() {
	s.budget.Take(s.owner, -s.bytes)
	s.bytes = 0
}

// partOf returns the part for a group with these outcomes; nil when it has no targets.
func (s *Set) partOf(key Key, group *targetgroup.Group, outcomes []targets.Outcome) *part {
	if group == nil || len(group.Targets) == 0 {
		if s.observe != nil {
			s.observe(key, nil, nil)
		}
		return nil
	}
	out := &part{key: key}
	dropped := map[int32]int32{}
	if s.observe != nil {
		s.observe(key, group, outcomes)
	}
	for _, o := range outcomes {
		switch o.State {
		case targets.Kept:
			out.kept = append(out.kept, s.newEntry(out, o))
		case targets.Dropped:
			dropped[int32(o.Step-1)]++
		case targets.Duplicate:
			out.duplicates++
		case targets.Unknown:
			out.unknown++
		default:
			out.invalid++
		}
	}
	out.kept = slices.Clip(out.kept)
	for step, n := range dropped {
		out.dropped = append(out.dropped, drops{step, n})
	}
	slices.SortFunc(out.dropped, func(a, b drops) int { return cmp.Compare(a.step, b.step) })
	return out
}

// whole returns the step that drops all targets; ok is false if there is none.
func (p *part) whole() (d drops, ok bool) {
	if p == nil || len(p.kept)+p.invalid+p.duplicates+p.unknown > 0 || len(p.dropped) != 1 {
		return drops{}, false
	}
	return p.dropped[0], true
}

// same reports whether the results for the targets of two parts are equal.
func (p *part) same(o *part) bool {
	if p == nil || o == nil {
		return p == o
	}
	return p.invalid == o.invalid && p.duplicates == o.duplicates && p.unknown == o.unknown && slices.Equal(p.dropped, o.dropped) &&
		slices.EqualFunc(p.kept, o.kept, func(a, b entry) bool { return slices.Equal(a.holds, b.holds) })
}

// count adds a part (sign 1) or removes it (sign -1).
func (s *Set) count(p *part, sign int) {
	s.invalid += sign * p.invalid
	s.unknown += sign * p.unknown
	s.duplicates += sign * p.duplicates
	for _, d := range p.dropped {
		s.dropped[d.step] += sign * int(d.targets)
	}
	for i := range p.kept {
		if sign > 0 {
			s.enter(&p.kept[i])
		} else {
			s.leave(&p.kept[i])
		}
	}
}

// Counts are numbers of targets.
type Counts struct {
	// States without those of gaps.
	States map[targets.State]int
	// Dropped targets by the origin of the step.
	Dropped map[string]int
	// Shards are the numbers of targets that each shard scrapes.
	Shards []int
}

// Counts returns the current numbers of targets.
func (s *Set) Counts() Counts {
	out := Counts{States: map[targets.State]int{}, Dropped: map[string]int{}, Shards: slices.Clone(s.shards)}
	set := func(state targets.State, n int) {
		if n != 0 {
			out.States[state] = n
		}
	}
	for step, n := range s.dropped {
		if n != 0 {
			out.Dropped[s.job.Origins[step].Path] += n
			out.States[targets.Dropped] += n
		}
	}
	over := s.overLimit()
	set(targets.Kept, s.kept-over)
	set(targets.OverLimit, over)
	set(targets.Duplicate, s.duplicates)
	set(targets.Invalid, s.invalid)
	set(targets.Unknown, s.unknown)
	for shard := range out.Shards {
		if s.isOver(shard) {
			out.Shards[shard] = 0
		}
	}
	return out
}

func (s *Set) isOver(shard int) bool {
	limit := s.job.TargetLimit(shard)
	return limit > 0 && s.shards[shard] > limit
}

// overLimit returns the number of targets that only shards with too many targets would scrape.
func (s *Set) overLimit() (n int) {
	over, any := make([]bool, len(s.shards)), false
	for shard := range over {
		over[shard] = s.isOver(shard)
		any = any || over[shard]
	}
	if !any {
		return 0
	}
	for _, p := range s.parts {
		for i := range p.kept {
			if e := &p.kept[i]; e.wins > 0 && !s.holders.scrapedBeside(e, over) {
				n++
			}
		}
	}
	return n
}

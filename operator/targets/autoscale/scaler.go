package autoscale

import (
	"fmt"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// MaxSpeed is the highest [Limits.Speed].
const MaxSpeed = 60

// Times at a speed of one.
const (
	upAfter   = 5 * time.Minute  // for which shards must have too much
	upEvery   = 10 * time.Minute // and at most a part of them:
	upPart    = 4
	downAfter = time.Hour // for which fewer shards must be enough
	downEvery = 2 * time.Hour
	maxAfter  = 5 * time.Minute // for which there must be more shards than the maximum, which was lowered
)

const (
	// drainedFor is the time for which a shard has no targets before it is removed, so that its pods have applied this.
	drainedFor = time.Minute
	// sentFor is the maximum time that drained agents have to send their samples.
	sentFor = 10 * time.Minute

	mostSeries = 1 << 50 // larger numbers count as this one

	// In percent of the maximum for shards.
	full     = 90  // for all together
	overfull = 110 // for one of them, unless a single unit is that heavy,
	worth    = 70  // if all together have at least this; otherwise more shards would not help
	enough   = 70  // for fewer shards
)

// Limits are the limits for a workload.
type Limits struct {
	scaling.Limits
	// Zones is the number of zones over which shards are spread; 0 without zones.
	Zones int
	// Retained is true if a shard that is removed keeps its data.
	Retained bool
	// Sends is true for agents, which keep no data: a shard is only removed once it has sent its samples.
	Sends bool
	// Speed is the factor by which shards are added and removed faster than usual, at most [MaxSpeed]; 0 means 1. It
	// does not shorten the drain of a shard.
	Speed int
}

// Load is the load of a workload.
type Load struct {
	// Shards is the current number, as reported by the operator.
	Shards int
	// Series of all targets. Measured is the part that pods have counted. The rest is estimated, which can keep a shard
	// but not add one.
	Series, Measured uint64
	// Fullest is the number of series of the fullest shard, not counting shards with a unit that needs one of its own.
	Fullest uint64
	// Used is the number of shards without the last ones that have no targets.
	Used int
	// Unsent is the number of unsent samples of agents of shards without targets, at the time UnsentAt, which is zero
	// if one of the agents has not reported it.
	Unsent   uint64
	UnsentAt time.Time
	// Starting is true if a shard gets no targets yet, because it has had no ready pod.
	Starting bool
}

// Scaler decides for one workload.
type Scaler struct {
	limits Limits
	state  scaling.Workload

	overSince, underSince, drainedSince time.Time
}

// New returns a Scaler that continues from the last decision; the zero value means that there was none.
func New(before scaling.Workload) *Scaler { return &Scaler{state: before} }

// State returns the last decision.
func (s *Scaler) State() scaling.Workload { return s.state }

// Placed returns the number of shards that get targets, of those that the workload has.
func (s *Scaler) Placed(shards int) int {
	if s.state.Target == 0 {
		return shards
	}
	return min(s.state.Target, shards)
}

// Unknown restarts all waiting times, because the load is unknown.
func (s *Scaler) Unknown() {
	s.overSince, s.underSince, s.drainedSince = time.Time{}, time.Time{}, time.Time{}
}

// Step decides at the time now. step is nil if it does not change the number of shards that get targets.
func (s *Scaler) Step(now time.Time, limits Limits, load Load) (step *scaling.Step) {
	s.limits = limits
	load.Series, load.Fullest, load.Measured = min(load.Series, mostSeries), min(load.Fullest, mostSeries), min(load.Measured, mostSeries)
	before := s.state.Target
	if before == 0 {
		before = load.Shards
	}
	if s.state.Since.IsZero() {
		s.state.Since = now.UTC().Truncate(time.Second)
	}
	held := s.state.Held
	s.state.Held = nil
	target, why := s.target(now, before, load)
	if next := s.state.Held; next != nil && held != nil && next.Reason == held.Reason {
		s.state.Held = held // with the figures from its beginning, so that it does not change permanently
	}
	if target != before {
		step = &scaling.Step{At: now.UTC().Truncate(time.Second), From: before, To: target, Why: why}
		s.state.Remember(*step)
		s.Unknown()
	}
	s.state.Target = target
	s.state.Shards = max(target, s.kept(now, load))
	return step
}

// target returns the number of shards that should get targets, and why it is another one than before.
func (s *Scaler) target(now time.Time, before int, load Load) (target int, why string) {
	switch n := load.Shards; {
	case before < s.limits.Floor:
		return s.limits.Floor, "spec.shards"
	case before < min(n, s.limits.Max) && over(load.Measured, before, s.limits.SeriesPerShard, full):
		return min(n, s.limits.Max), s.figures("shards that were drained are needed", load.Measured, before)
	case before < n && !s.mayGo():
		return n, "shards that would go are not retained any more"
	case before > max(n, s.limits.Max):
		return n, wellknown.AnnotationMaxShards
	case before != n:
		s.overSince, s.underSince = time.Time{}, time.Time{}
		return before, "" // a step is not complete
	case load.Starting: // the load that it will take from the others is unknown
	case s.since(&s.overSince, now, s.isOver(load)) >= s.limits.pace(upAfter):
		return s.up(now, load)
	case s.since(&s.underSince, now, s.isUnder(load)) >= s.patience(load):
		return s.down(now, load)
	}
	return before, ""
}

// isOver reports whether the shards have too many series, all together or one of them.
func (s *Scaler) isOver(load Load) bool {
	n, most := load.Shards, s.limits.SeriesPerShard
	return over(load.Measured, n, most, full) || over(load.Fullest, 1, most, overfull) && over(load.Measured, n, most, worth)
}

// isUnder reports whether fewer shards would be enough. If most series are estimated, that is unknown.
func (s *Scaler) isUnder(load Load) bool {
	n := load.Shards - s.unit()
	if load.Measured == 0 || load.Measured < load.Series/2 {
		return false
	}
	return n >= s.limits.Floor && (s.isBeyond(load) || !over(load.Series, n, s.limits.SeriesPerShard, enough))
}

// isBeyond reports whether there are more shards than allowed.
func (s *Scaler) isBeyond(load Load) bool { return load.Shards > s.limits.Max }

// patience returns how long fewer shards must be enough before one is removed.
func (s *Scaler) patience(load Load) time.Duration {
	if s.isBeyond(load) {
		return s.limits.pace(maxAfter)
	}
	return s.limits.pace(downAfter)
}

// pace returns a time at the speed of the limits.
func (l Limits) pace(usual time.Duration) time.Duration {
	return usual / time.Duration(max(1, l.Speed))
}

// up returns more shards, or holds the number.
func (s *Scaler) up(now time.Time, load Load) (target int, why string) {
	n := load.Shards
	wanted := int(min((load.Measured*100/full)/s.limits.SeriesPerShard+1, uint64(s.limits.Max)+1)) - n
	more := max(min(wanted, n/upPart), 1)
	more = (more + s.unit() - 1) / s.unit() * s.unit()
	if room := s.limits.Max - n; more > room {
		more = room / s.unit() * s.unit()
	}
	switch {
	case more <= 0:
		s.hold(now, scaling.AtMaxShards, fmt.Sprintf("%s, and there may be no more than %d", s.figures("more shards are needed", load.Measured, n), s.limits.Max))
	case now.Sub(s.last(now, rises)) >= s.limits.pace(upEvery):
		return n + more, s.figures("more shards are needed", load.Measured, n)
	}
	return n, ""
}

// down returns fewer shards, or holds the number.
func (s *Scaler) down(now time.Time, load Load) (target int, why string) {
	n := load.Shards
	why = s.figures("fewer shards are enough", load.Series, n)
	switch {
	case !s.mayGo():
		s.hold(now, scaling.NotRetained, why+"; their data would be lost without spec.shardRetentionPolicy.whenScaled: Retain")
	case s.isBeyond(load):
		return n - s.unit(), wellknown.AnnotationMaxShards
	case now.Sub(s.last(now, falls)) >= s.limits.pace(downEvery):
		return n - s.unit(), why
	}
	return n, ""
}

// hold records why the number does not change.
func (s *Scaler) hold(now time.Time, by scaling.Reason, message string) {
	s.state.Held = &scaling.Held{Reason: by, Message: message, Since: now.UTC().Truncate(time.Second)}
}

// kept returns the number of shards that the operator must keep: those with targets, and those that just lost them.
func (s *Scaler) kept(now time.Time, load Load) int {
	drained := s.state.Target > 0 && load.Used <= s.state.Target
	since := s.since(&s.drainedSince, now, drained)
	if drained && s.state.Shards > 0 && s.state.Shards <= s.state.Target {
		return 0 // as decided before
	}
	sent := load.Unsent == 0 && load.UnsentAt.Sub(s.drainedSince) >= drainedFor
	if since >= drainedFor && (!s.limits.Sends || sent || since >= sentFor) {
		return 0
	}
	return load.Shards
}

// since returns for how long something has been true.
func (s *Scaler) since(begin *time.Time, now time.Time, is bool) time.Duration {
	switch {
	case !is:
		*begin = time.Time{}
		return -1
	case begin.IsZero() || begin.After(now):
		*begin = now
	}
	return now.Sub(*begin)
}

func rises(step scaling.Step) bool { return step.To > step.From }
func falls(step scaling.Step) bool { return step.To <= step.From }

// last returns the time of the last step of a direction. One that is not over yet, by another clock, was now.
func (s *Scaler) last(now time.Time, is func(scaling.Step) bool) (at time.Time) {
	for _, step := range s.state.Steps {
		if is(step) {
			at = step.At
		}
	}
	if at.After(now) {
		return now
	}
	return at
}

// mayGo reports whether the data of a shard is kept or sent when it is removed.
func (s *Scaler) mayGo() bool { return s.limits.Retained || s.limits.Sends }

// unit is the minimum change of the number of shards.
func (s *Scaler) unit() int { return max(1, s.limits.Zones) }

func (s *Scaler) figures(what string, series uint64, shards int) string {
	return fmt.Sprintf("%s: %d series on %d shards, which should have at most %d each", what, series, shards, s.limits.SeriesPerShard)
}

// over reports whether series are more than a percentage of the maximum for n shards.
func over(series uint64, n int, perShard, percent uint64) bool {
	return series*100 > uint64(n)*perShard*percent // at most 1,000 shards × 1e9 series × 110
}

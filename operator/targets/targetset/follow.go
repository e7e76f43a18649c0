package targetset

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
)

// Followed is the set of a job in a running cluster. It is safe for concurrent use.
type Followed struct {
	cluster *watch.Cluster
	changed func()
	begun   time.Time
	job     *targets.Job
	sds     []*targets.KubernetesSD // of subs
	subs    []*watch.Subscription
	gaps    []targets.Gap // of discoveries that could not be started

	mu      sync.Mutex // guards what follows
	running bool       // from the last subscription until Close
	takes   throttle   // of changes of groups
	taker   *time.Timer
	busy    bool     // changes are being taken
	missed  bool     // there were changes meanwhile
	tells   throttle // of changes of the set
	teller  *time.Timer

	taking   sync.Mutex // held while changes are taken
	dropper  targets.Dropper
	gapped   int  // number of gaps at the last take
	complete bool // at the last take

	within *within // the part of the job that one caller may see; nil for all of it

	reading sync.Mutex // guards the set; held for one group, or for one part of a list
	set     *Set

	seen   atomic.Pointer[countsCopy]
	filled atomic.Bool // the set was complete once, without failed reads
}

// countsCopy is a copy of the counts that can be read while changes are taken.
type countsCopy struct {
	counts Counts
	since  time.Time
}

const (
	// often is the interval at which counts are updated while many changes are taken.
	often = 100 * time.Millisecond
	// few is the number of changed groups up to which a request takes the changes itself.
	few = 100
)

// Allowed returns the permitted part of a discovery, nil if there is none, and the gaps that
// missing permissions of the workload cause.
type Allowed func(sd *targets.KubernetesSD) (*targets.KubernetesSD, []targets.Gap)

// Membership limits the memory of a set and observes its groups.
type Membership struct {
	Budget    *Budget // nil if the set is not limited
	Namespace string  // for which the set is counted
	// Observe is called with each group that changes, before the listener. It must not call methods of the result.
	Observe Observer
}

// Follow starts a set of a job that is kept current. own is the namespace of the workload, allowed
// (optional) limits its discoveries. changed is called after changes, throttled; it may block.
func (m Membership) Follow(c *watch.Cluster, j *targets.Job, own string, allowed Allowed, changed func()) *Followed {
	f := &Followed{cluster: c, dropper: j.Dropper(), changed: changed, begun: time.Now(), job: j, set: observed(j, m.Namespace, m.Budget, m.Observe)}
	f.seen.Store(&countsCopy{counts: f.set.Counts()})
	for sd := range discovery.Distinct(j) {
		if allowed != nil {
			var gaps []targets.Gap
			sd, gaps = allowed(sd)
			f.gaps = append(f.gaps, gaps...)
		}
		if sd == nil {
			continue
		}
		sub, err := c.Subscribe(sd, own, f.wake)
		if err != nil {
			f.gaps = append(f.gaps, targets.Gap{State: targets.Unknown, Message: err.Error()})
			continue
		}
		f.sds, f.subs = append(f.sds, sd), append(f.subs, sub)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = true
	f.schedule()
	return f
}

// wake is called when groups have changed.
func (f *Followed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.schedule()
}

// schedule schedules the next pass.
func (f *Followed) schedule() {
	switch {
	case !f.running:
	case f.busy:
		f.missed = true
	default:
		f.taker = f.after(&f.takes, f.taker, f.pass)
	}
}

// after calls a function when a throttle allows it. It returns the timer, or the last one.
func (f *Followed) after(t *throttle, last *time.Timer, call func()) *time.Timer {
	switch wait, ok := t.change(time.Now()); {
	case !ok:
	case wait > 0:
		return time.AfterFunc(wait, call)
	default:
		go call()
	}
	return last
}

// pass takes changes, and schedules a notification of the listener if the set changes.
func (f *Followed) pass() {
	f.mu.Lock()
	running := f.running
	f.busy = running
	f.mu.Unlock()
	if !running {
		return
	}
	f.taking.Lock()
	turn := f.cluster.Turn(f.set.owner)
	began := time.Now()
	changed := f.take(turn.Share)
	turn.End()
	f.taking.Unlock()

	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.takes.taken(now, now.Sub(began))
	f.busy = false
	if f.missed {
		f.missed = false
		f.schedule()
	}
	if changed {
		f.report()
	}
}

// report schedules a notification of the listener.
func (f *Followed) report() {
	if f.running {
		f.teller = f.after(&f.tells, f.teller, f.notify)
	}
}

// notify notifies the listener.
func (f *Followed) notify() {
	f.mu.Lock()
	running := f.running
	f.tells.passed(time.Now()) // later changes are scheduled separately
	f.mu.Unlock()
	if running {
		f.changed()
	}
}

// take applies pending changes to the set and reports whether it changed. Readers can use the set
// while a group is evaluated, and between two groups. share is called after each group and before each of their targets; nil if the
// caller has no turn.
func (f *Followed) take(share func(slow bool)) (changed bool) {
	gaps := f.subscribedGaps() // must be read before the changes are taken, like Filling
	complete := !f.filling()
	shown := time.Now()
	taken := func(different bool) {
		changed = different || changed
		if time.Since(shown) >= often {
			f.show(f.seen.Load().since)
			shown = time.Now()
		}
		if share != nil {
			share(false)
		}
	}
	for i, sub := range f.subs {
		drops := func(source string, o targets.Outline) bool {
			step := f.dropper.Step(o)
			if step >= 0 {
				taken(f.drop(Key{i, source}, drops{int32(step), int32(o.Targets)}))
			}
			return step >= 0
		}
		sub.Take(f.dropper.Names(), drops, func(source string, group *targetgroup.Group) { taken(f.put(Key{i, source}, group, share)) })
	}
	changed = changed || len(gaps) != f.gapped
	if changed || complete != f.complete || f.seen.Load().since.IsZero() {
		f.show(time.Now())
	}
	f.gapped, f.complete = len(gaps), complete
	if complete && len(gaps) == 0 {
		f.filled.Store(true)
	}
	return changed
}

// put evaluates and replaces a group. f.taking must be held.
func (f *Followed) put(key Key, group *targetgroup.Group, share func(slow bool)) (changed bool) {
	if f.set.evicted.Load() {
		return false
	}
	outcomes := f.set.outcomes(group, share)
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.set.put(key, group, outcomes)
}

func (f *Followed) drop(key Key, whole drops) (changed bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.set.drop(key, whole)
}

// Again evaluates some groups again, for the observer, soon: the caller does not wait for its turn. It does nothing while changes are
// taken.
func (f *Followed) Again(keys []Key) {
	if !f.taking.TryLock() {
		return
	}
	go func() {
		defer f.taking.Unlock()
		turn := f.cluster.Turn(f.set.owner)
		defer turn.End()
		for _, key := range keys {
			if group := f.group(key); group != nil {
				f.put(key, group, turn.Share)
			}
			turn.Share(false)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.report()
	}()
}

// show publishes the counts of the set.
func (f *Followed) show(since time.Time) {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.seen.Store(&countsCopy{f.set.Counts(), since})
}

// Counts returns the current numbers of targets, see Gaps. It returns the same immutable value until they change.
func (f *Followed) Counts() *Counts { return &f.seen.Load().counts }

// Gaps returns why further targets are unknown.
func (f *Followed) Gaps() []targets.Gap {
	out := slices.Concat(f.gaps, f.subscribedGaps())
	if f.Evicted() {
		out = append(out, targets.Gap{State: targets.Unknown, Message: "its targets are not followed: with them, the jobs of its namespace would take more than their share of memory. " +
			"Use fewer endpoints or narrower selectors, or give more memory to the container"})
	}
	return out
}

// Evicted reports whether the set is empty because its budget was exceeded. It stays empty. The observer
// was not called for the groups that it has lost.
func (f *Followed) Evicted() bool {
	if f.within != nil {
		return f.within.of.Evicted()
	}
	return f.set.evicted.Load()
}

// EvictOverShare empties the set if its namespace has more than its share of the budget, and others need it.
func (f *Followed) EvictOverShare() {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.set.bytes > 0 && f.set.budget.overShare(f.set.owner) {
		f.set.evict(0)
		f.seen.Store(&countsCopy{f.set.Counts(), time.Now()})
	}
}

// Fits reports whether the budget now suffices for the targets that the set had when it was emptied.
func (f *Followed) Fits() bool {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.set.budget.free(f.set.owner, f.set.needed)
}

func (f *Followed) subscribedGaps() (out []targets.Gap) {
	for _, sub := range f.subs {
		out = append(out, sub.Gaps()...)
	}
	return out
}

// Outdated returns the reads that currently fail: their targets are those of the last successful read.
func (f *Followed) Outdated() (out []targets.Gap) {
	for _, sub := range f.subs {
		out = append(out, sub.Outdated()...)
	}
	return out
}

// Relisted returns the time of the last list of objects after the first one, see
// [watch.Subscription.Relisted].
func (f *Followed) Relisted() (last time.Time) {
	for _, sub := range f.subs {
		if at := sub.Relisted(); at.After(last) {
			last = at
		}
	}
	return last
}

func (f *Followed) filling() bool {
	return slices.ContainsFunc(f.subs, (*watch.Subscription).Filling)
}

// AllGaps returns [Followed.Gaps] and the discoveries of the job that only the running servers
// evaluate.
func (f *Followed) AllGaps() []targets.Gap { return append(f.Gaps(), f.job.Gaps()...) }

// Complete reports whether everything that can be read has been read. Until then more targets may
// follow soon. It does not block, and evaluates a few groups itself.
func (f *Followed) Complete() bool { return f.completeWith(few) }

// Known is like Complete, but evaluates no group, which may take seconds: for a caller that many jobs wait for.
func (f *Followed) Known() bool { return f.completeWith(0) }

// completeWith is like Complete, with the number of groups that it may evaluate.
func (f *Followed) completeWith(most int) bool {
	if f.within != nil {
		return f.within.of.completeWith(most)
	}
	if f.filled.Load() {
		return true
	}
	pending := 0
	for _, sub := range f.subs {
		pending += sub.Pending()
	}
	if f.filling() || pending > most || !f.taking.TryLock() {
		return false
	}
	defer f.taking.Unlock()
	if f.take(nil) { // not all conditions for completeness trigger a wake
		f.mu.Lock()
		f.report()
		f.mu.Unlock()
	}
	return f.complete
}

// Since returns the time of the last change of the targets.
func (f *Followed) Since() time.Time { return f.seen.Load().since }

// Close stops it. A second call is a no-op.
func (f *Followed) Close() {
	f.mu.Lock()
	f.running = false
	for _, timer := range []*time.Timer{f.taker, f.teller} {
		if timer != nil {
			timer.Stop()
		}
	}
	f.mu.Unlock()
	for _, sub := range f.subs {
		sub.Close()
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	f.set.close()
}

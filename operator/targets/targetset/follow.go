package targetset

import (
	"fmt"
	"slices"
	"strconv"
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
	changed func()
	begun   time.Time
	job     *targets.Job
	sds     []*targets.KubernetesSD // of subs
	subs    []*watch.Subscription
	gaps    []targets.Gap // of discoveries that cannot be followed

	mu       sync.Mutex // guards the decision when to take changes
	throttle throttle
	timer    *time.Timer
	running  bool // from the last subscription until it is closed

	taking   sync.Mutex // held while changes are taken
	gapped   int        // gaps at the last time
	complete bool       // at the last time

	within *within // what of the job one caller may see; nil for all of it

	reading sync.Mutex // guards the set; held for a group, or for a part of a list
	set     *Set

	seen   atomic.Pointer[seen]
	filled atomic.Bool // everything was in the set, and no read had failed
}

// seen is what is known of a set, while changes of it are taken.
type seen struct {
	counts Counts
	since  time.Time
}

const (
	// often is how often counts are brought up to date while many changes are taken.
	often = 100 * time.Millisecond
	// few is the number of changed groups that a question takes itself.
	few = 100
)

// Allowed returns what is left of a discovery where the workload lacks permissions, nil for
// nothing, and why that is not all of it.
type Allowed func(sd *targets.KubernetesSD) (*targets.KubernetesSD, []targets.Gap)

// Follow keeps the set of a job. own is the namespace of the workload, allowed (optional) what it
// may discover. changed is called after changes, throttled; it may block.
func Follow(c *watch.Cluster, j *targets.Job, own string, allowed Allowed, changed func()) *Followed {
	f := &Followed{changed: changed, begun: time.Now(), job: j, set: New(j)}
	f.seen.Store(&seen{counts: f.set.Counts()})
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

// schedule plans to take changes.
func (f *Followed) schedule() {
	if !f.running {
		return
	}
	switch wait, ok := f.throttle.change(time.Now()); {
	case !ok:
	case wait > 0:
		f.timer = time.AfterFunc(wait, f.pass)
	default:
		go f.pass()
	}
}

// pass takes changes and passes them on.
func (f *Followed) pass() {
	f.mu.Lock()
	running := f.running
	f.throttle.passed(time.Now()) // what changes from here on is another change
	f.mu.Unlock()
	if !running {
		return
	}
	f.taking.Lock()
	changed := f.take()
	f.taking.Unlock()
	if changed {
		f.changed()
	}
}

// take brings the set up to date, and reports whether that changed it. Others read the set
// between two groups.
func (f *Followed) take() (changed bool) {
	gaps := f.subscribedGaps() // before it is taken, as Filling
	complete := !f.filling()
	shown := time.Now()
	for i, sub := range f.subs {
		sub.Take(func(source string, group *targetgroup.Group) {
			changed = f.put(Key{i, source}, group) || changed
			if time.Since(shown) >= often {
				f.show(f.seen.Load().since)
				shown = time.Now()
			}
		})
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

func (f *Followed) put(key Key, group *targetgroup.Group) (changed bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.set.Put(key, group)
}

// show makes known what is in the set.
func (f *Followed) show(since time.Time) {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.seen.Store(&seen{f.set.Counts(), since})
}

// Counts are the numbers of targets that were found so far, see Gaps. They stay the same value
// as long as they are the same; nobody changes them.
func (f *Followed) Counts() *Counts { return &f.seen.Load().counts }

// Gaps are why further targets are not known.
func (f *Followed) Gaps() []targets.Gap { return slices.Concat(f.gaps, f.subscribedGaps()) }

func (f *Followed) subscribedGaps() (out []targets.Gap) {
	for _, sub := range f.subs {
		out = append(out, sub.Gaps()...)
	}
	return out
}

// Outdated says what cannot be read any more: targets are as they were when it could.
func (f *Followed) Outdated() (out []targets.Gap) {
	for _, sub := range f.subs {
		out = append(out, sub.Outdated()...)
	}
	return out
}

func (f *Followed) filling() bool {
	return slices.ContainsFunc(f.subs, (*watch.Subscription).Filling)
}

// AllGaps are those of [Followed.Gaps], and the discoveries of the job that only the running
// servers look at.
func (f *Followed) AllGaps() []targets.Gap { return append(f.Gaps(), f.job.Gaps()...) }

// Complete reports whether everything is known that can be read. Until then there may be more
// targets soon. It does not wait.
func (f *Followed) Complete() bool {
	if f.within != nil {
		return f.within.of.Complete()
	}
	if f.filled.Load() {
		return true
	}
	pending := 0
	for _, sub := range f.subs {
		pending += sub.Pending()
	}
	if f.filling() || pending > few || !f.taking.TryLock() {
		return false
	}
	defer f.taking.Unlock()
	f.take() // not everything that ends the wait wakes
	return f.complete
}

// Since is when the targets last changed.
func (f *Followed) Since() time.Time { return f.seen.Load().since }

// Page calls each with what becomes of the targets of the first groups after a key that a
// filter may select targets of, in order, until it returns false. At most some groups are
// looked at; last is where to go on, nil at the end.
func (f *Followed) Page(after *Key, most int, of Filter, each func(Key, targets.Result) bool) (last *Key) {
	f.reading.Lock()
	defer f.reading.Unlock()
	keys := f.set.Keys(after, most, of)
	for i := range keys {
		if group := f.group(keys[i]); group != nil && !each(keys[i], f.set.Result(keys[i], group, of.Shard)) {
			return &keys[i]
		}
	}
	if len(keys) < most {
		return nil
	}
	return &keys[len(keys)-1]
}

// Result says what becomes of the targets of one group; ok is false when there is none.
func (f *Followed) Result(key Key, shard int) (r targets.Result, ok bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	group := f.group(key)
	if group == nil {
		return r, false
	}
	return f.set.Result(key, group, shard), true
}

// group returns a group that the set knows.
func (f *Followed) group(key Key) *targetgroup.Group {
	if key.Discovery != static {
		if f.within != nil {
			return f.within.groups[key]
		}
		if key.Discovery < 0 || key.Discovery >= len(f.subs) {
			return nil
		}
		return f.subs[key.Discovery].Group(key.Source)
	}
	i, err := strconv.Atoi(key.Source)
	if err != nil || i < 0 || i >= len(f.job.Static) {
		return nil
	}
	return f.job.Static[i]
}

// In calls each with the groups of the objects of a namespace, "" for those without, and with
// those of static_configs, if has returns true for one of their targets. What was found is
// kept in memo for other jobs that look for targets in the same way.
func (f *Followed) In(namespace string, memo Memo, has func(*targetgroup.Group) bool, each func(Key)) {
	if f.within != nil {
		f.within.in(namespace, has, each)
		f.static(has, each)
		return
	}
	for i, sub := range f.subs {
		key := fmt.Sprintf("%+v", *f.sds[i])
		found, known := memo[key]
		if !known {
			found = []string{}
			sub.In(namespace, func(source string, group *targetgroup.Group) {
				if has(group) {
					found = append(found, source)
				}
			})
			slices.Sort(found)
			memo[key] = found
		}
		for _, source := range found {
			each(Key{i, source})
		}
	}
	f.static(has, each)
}

// Of calls each with the groups of an object, by their source.
func (f *Followed) Of(source string, each func(Key)) {
	for i := range f.subs {
		each(Key{i, source})
	}
}

// Find calls each with the groups for which has returns true, in no order.
func (f *Followed) Find(has func(*targetgroup.Group) bool, each func(Key)) {
	if f.within != nil {
		f.within.each(has, each)
		f.static(has, each)
		return
	}
	for i, sub := range f.subs {
		sub.Each(func(group *targetgroup.Group) {
			if has(group) {
				each(Key{i, group.Source})
			}
		})
	}
	f.static(has, each)
}

// static calls each with the groups of static_configs for which has returns true.
func (f *Followed) static(has func(*targetgroup.Group) bool, each func(Key)) {
	for i, group := range f.job.Static {
		if has(group) {
			each(staticKey(i))
		}
	}
}

// Memo remembers which groups of a namespace matter, by discovery.
type Memo map[string][]string

// Groups calls each with the groups of the job, one at a time, in no order.
func (f *Followed) Groups(each func(*targetgroup.Group)) {
	for _, sub := range f.subs {
		sub.Each(each)
	}
}

// Close ends it. A second call does nothing.
func (f *Followed) Close() {
	f.mu.Lock()
	f.running = false
	if f.timer != nil {
		f.timer.Stop()
	}
	f.mu.Unlock()
	for _, sub := range f.subs {
		sub.Close()
	}
}

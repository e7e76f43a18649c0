package targetset

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// Followed is the set of a job in a running cluster. It is safe for concurrent use.
type Followed struct {
	changed func()
	job     *targets.Job
	sds     []*targets.KubernetesSD // of subs
	subs    []*watch.Subscription
	gaps    []targets.Gap // of discoveries that cannot be followed

	mu       sync.Mutex // guards the decision when to take changes
	throttle throttle
	timer    *time.Timer
	running  bool // from the last subscription until it is closed

	reading sync.Mutex // guards the set
	set     *Set
	known   int // gaps at the last time
	since   time.Time
	filled  bool // all that there was when the subscriptions were complete is in the set
}

// Allowed returns what is left of a discovery where the workload lacks permissions, nil for
// nothing, and why that is not all of it.
type Allowed func(sd *targets.KubernetesSD) (*targets.KubernetesSD, []targets.Gap)

// Follow keeps the set of a job. own is the namespace of the workload, allowed (optional) what it
// may discover. changed is called after changes, throttled; it may block.
func Follow(c *watch.Cluster, j *targets.Job, own string, allowed Allowed, changed func()) *Followed {
	f := &Followed{changed: changed, job: j, set: New(j)}
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
	if wait, ok := f.throttle.change(time.Now()); ok {
		f.timer = time.AfterFunc(wait, f.pass)
	}
}

// pass takes changes and passes them on.
func (f *Followed) pass() {
	f.mu.Lock()
	running := f.running
	f.throttle.passed(time.Now()) // what changes from here on is another change
	f.mu.Unlock()
	if running && f.take() {
		f.changed()
	}
}

// take brings the set up to date, and reports whether that changed it.
func (f *Followed) take() (changed bool) {
	f.reading.Lock()
	defer f.reading.Unlock()
	filled := !slices.ContainsFunc(f.subs, (*watch.Subscription).Filling) // before it is taken
	defer func() {
		if changed || filled != f.filled || f.since.IsZero() {
			f.since = time.Now()
		}
		f.filled = f.filled || filled
	}()
	for i, sub := range f.subs {
		sub.Take(func(source string, group *targetgroup.Group) {
			changed = f.set.Put(Key{i, source}, group) || changed
		})
	}
	known := len(f.Gaps())
	changed = changed || known != f.known
	f.known = known
	return changed
}

// Counts are the numbers of targets that were found so far, see Gaps.
func (f *Followed) Counts() Counts {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.set.Counts()
}

// Gaps are why further targets are not known.
func (f *Followed) Gaps() []targets.Gap {
	out := f.gaps[:len(f.gaps):len(f.gaps)]
	for _, sub := range f.subs {
		out = append(out, sub.Gaps()...)
	}
	return out
}

// AllGaps are those of [Followed.Gaps], and the discoveries of the job that only the running
// servers look at.
func (f *Followed) AllGaps() []targets.Gap { return append(f.Gaps(), f.job.Gaps()...) }

// Complete reports whether everything is known that can be read. Until then there may be more
// targets soon.
func (f *Followed) Complete() bool {
	f.reading.Lock()
	filled := f.filled
	f.reading.Unlock()
	if !filled && !slices.ContainsFunc(f.subs, (*watch.Subscription).Filling) {
		f.take() // not everything that ends the wait wakes
		return true
	}
	return filled
}

// Since is when the targets last changed.
func (f *Followed) Since() time.Time {
	f.reading.Lock()
	defer f.reading.Unlock()
	return f.since
}

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
	for i, group := range f.job.Static {
		if has(group) {
			each(staticKey(i))
		}
	}
}

// Of calls each with the groups of an object, by their source.
func (f *Followed) Of(source string, each func(Key)) {
	for i := range f.subs {
		each(Key{i, source})
	}
}

// Find calls each with the groups for which has returns true, in no order.
func (f *Followed) Find(has func(*targetgroup.Group) bool, each func(Key)) {
	for i, sub := range f.subs {
		sub.Each(func(group *targetgroup.Group) {
			if has(group) {
				each(Key{i, group.Source})
			}
		})
	}
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

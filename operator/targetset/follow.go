package targetset

import (
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
	subs    []*watch.Subscription
	gaps    []targets.Gap // of discoveries that cannot be followed

	mu       sync.Mutex // guards the decision when to take changes
	throttle throttle
	timer    *time.Timer
	running  bool // from the last subscription until it is closed

	reading sync.Mutex // guards the set
	set     *Set
	known   int // gaps at the last time
}

// Follow keeps the set of a job. own is the namespace of the workload. changed is called after
// changes, throttled; it may block.
func Follow(c *watch.Cluster, j *targets.Job, own string, changed func()) *Followed {
	f := &Followed{changed: changed, set: New(j)}
	for sd := range discovery.Distinct(j) {
		sub, err := c.Subscribe(sd, own, f.wake)
		if err != nil {
			f.gaps = append(f.gaps, targets.Gap{State: targets.Unknown, Message: err.Error()})
			continue
		}
		f.subs = append(f.subs, sub)
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

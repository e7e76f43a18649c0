package watch

import (
	"runtime"
	"sync"
	"time"
)

// turns limits the number of subscriptions whose groups are evaluated at a time to that of the CPUs, and of expensive ones to half
// of it. A change of one group may concern thousands of jobs: if they all ran concurrently, requests would wait for each of them.
// The namespace that has used the least time gets the next turn, so that one with many or expensive jobs does not delay the jobs of
// others.
type turns struct {
	mu      sync.Mutex
	running int
	slow    int            // of them, expensive ones
	open    map[string]int // turns of a namespace that run or wait
	waiting map[lane][]*Turn
	// used is the time that each open namespace has used, counted from the one that had used the least when it came.
	used  map[string]time.Duration
	floor time.Duration
}

// lane is a queue of turns.
type lane struct {
	namespace string
	slow      bool
}

// Turn is the permission to evaluate groups. It is not safe for concurrent use.
type Turn struct {
	lane
	of    *turns
	since time.Time
	ready chan struct{}
}

// turnLength is the time after which a turn ends if others wait.
const turnLength = 10 * time.Millisecond

// Turn waits for a turn of a namespace. [Turn.End] must be called.
func (c *Cluster) Turn(namespace string) *Turn {
	t := &Turn{lane: lane{namespace: namespace}, of: &c.turns, ready: make(chan struct{}, 1)}
	o := t.of
	o.mu.Lock()
	if o.open == nil {
		o.open, o.waiting, o.used = map[string]int{}, map[lane][]*Turn{}, map[string]time.Duration{}
	}
	if o.open[namespace]++; o.open[namespace] == 1 {
		o.used[namespace] = o.floor
	}
	o.waiting[t.lane] = append(o.waiting[t.lane], t)
	o.begin()
	o.mu.Unlock()
	t.wait()
	return t
}

// Share waits until others had their turns if this one was long. slow is true if the evaluation is expensive.
func (t *Turn) Share(slow bool) {
	if slow == t.slow && time.Since(t.since) < turnLength {
		return
	}
	o := t.of
	o.mu.Lock()
	o.account(t)
	o.stop(t)
	t.slow = slow
	next, waits := o.next()
	if (!waits || o.used[next.namespace] > o.used[t.namespace]) && !(slow && o.slow >= maxSlow()) {
		o.start(t)
		o.mu.Unlock()
		return
	}
	o.waiting[t.lane] = append(o.waiting[t.lane], t)
	o.begin()
	o.mu.Unlock()
	t.wait()
}

// End ends the turn.
func (t *Turn) End() {
	o := t.of
	o.mu.Lock()
	defer o.mu.Unlock()
	o.account(t)
	o.stop(t)
	if o.open[t.namespace]--; o.open[t.namespace] == 0 {
		delete(o.open, t.namespace)
		delete(o.used, t.namespace)
	}
	o.begin()
}

func (t *Turn) wait() {
	<-t.ready
	t.since = time.Now()
}

// maxSlow is the maximum number of expensive evaluations at a time.
func maxSlow() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// account counts the time of a turn. o.mu must be held.
func (o *turns) account(t *Turn) {
	now := time.Now()
	o.used[t.namespace] += now.Sub(t.since)
	t.since = now
}

// start begins a turn. o.mu must be held.
func (o *turns) start(t *Turn) {
	o.running++
	if t.slow {
		o.slow++
	}
}

// stop ends a turn that runs. o.mu must be held.
func (o *turns) stop(t *Turn) {
	o.running--
	if t.slow {
		o.slow--
	}
}

// next returns the queue whose first turn is next; ok is false if none may begin. o.mu must be held.
func (o *turns) next() (out lane, ok bool) {
	for l := range o.waiting {
		if l.slow && o.slow >= maxSlow() {
			continue
		}
		if !ok || o.used[l.namespace] < o.used[out.namespace] {
			out, ok = l, true
		}
	}
	return out, ok
}

// begin begins turns while there is room. o.mu must be held.
func (o *turns) begin() {
	for o.running < runtime.GOMAXPROCS(0) {
		l, ok := o.next()
		if !ok {
			return
		}
		t := o.waiting[l][0]
		if o.waiting[l] = o.waiting[l][1:]; len(o.waiting[l]) == 0 {
			delete(o.waiting, l)
		}
		o.floor = max(o.floor, o.used[l.namespace])
		o.start(t)
		t.ready <- struct{}{}
	}
}

package timeline

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

const (
	// maxChanges limits the changes of a workload. All workloads together have at most room changes,
	// or one each, divided equally: no workload displaces the changes of others.
	maxChanges = 10
	room       = 4000
)

// Log is the record of the workloads of one kind. It is safe for concurrent use. Create it with New.
type Log struct {
	reached func(types.NamespacedName, Change, Reached)
	now     func() time.Time

	mu        sync.Mutex
	workloads map[types.NamespacedName]*workload
}

// Reached is the progress of a change.
type Reached int

const (
	Written   Reached = iota
	Annotated         // all pods
	Finished          // no pod is waited for: all have loaded it, or the next changes
)

// New returns an empty log. reached (optional) is called when a change has reached a stage, with
// the log locked: it must not call it.
func New(reached func(types.NamespacedName, Change, Reached)) *Log {
	if reached == nil {
		reached = func(types.NamespacedName, Change, Reached) {}
	}
	return &Log{reached: reached, now: time.Now, workloads: map[types.NamespacedName]*workload{}}
}

func (l *Log) of(key types.NamespacedName) *workload {
	w := l.workloads[key]
	if w == nil {
		w = &workload{}
		l.workloads[key] = w
	}
	return w
}

// Notice records an event of an object that causes a reconciliation of the workloads.
func (l *Log) Notice(o catalog.Ref, keys ...types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, key := range keys {
		l.of(key).waiting.add(o, now)
	}
}

// Start records that a reconciliation starts. It covers all events so far.
func (l *Log) Start(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.of(key)
	w.running.join(w.waiting)
	w.waiting, w.started = cause{}, l.now()
}

// Drop records that the running reconciliation changes nothing. Without Write or Drop, it has
// failed, and its events belong to the next one.
func (l *Log) Drop(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.workloads[key]; w != nil {
		w.running = cause{}
	}
}

// Forget drops the record of a workload.
func (l *Log) Forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.workloads, key)
}

// Write records that the running reconciliation has written new content, which pods mount.
func (l *Log) Write(key types.NamespacedName, content Content, pods []types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.of(key)
	if n := len(w.changes); n > 0 && w.changes[n-1].pending != nil {
		e := w.changes[n-1]
		e.Superseded = true
		if len(e.pending) > maxWaiting || len(e.parts) == 0 {
			l.finish(key, e)
		}
	}
	e := &entry{
		Change: Change{
			Objects: w.running.objects, Events: w.running.events, Noticed: w.running.first,
			Started: w.started, Written: l.now(), Hash: content.Hash, Pods: len(pods),
		},
		parts:   slices.Clone(content.Parts[:min(len(content.Parts), maxParts)]),
		pending: make(map[types.NamespacedName]*progress, len(pods)),
	}
	if e.Noticed.IsZero() {
		e.Noticed = e.Started
	}
	w.running = cause{}
	for _, pod := range pods {
		e.pending[pod] = &progress{}
	}
	l.add(key, w, e)
	l.reached(key, e.Change, Written)
	l.settle(key, e)
}

// add appends a change and drops the oldest ones.
func (l *Log) add(key types.NamespacedName, w *workload, e *entry) {
	all := append(w.changes, e)
	old := max(0, len(all)-min(maxChanges, max(1, room/len(l.workloads))))
	for _, dropped := range all[:old] {
		l.finish(key, dropped)
	}
	w.changes = slices.Clone(all[old:])
}

// settle finishes a change that waits for no pod.
func (l *Log) settle(key types.NamespacedName, e *entry) {
	if len(e.pending) == 0 {
		l.finish(key, e)
	}
}

// finish ends a change, once.
func (l *Log) finish(key types.NamespacedName, e *entry) {
	if e.pending != nil {
		e.pending = nil
		l.reached(key, e.Change, Finished)
	}
}

// Annotate records a successful patch of a pod.
func (l *Log) Annotate(key types.NamespacedName, hash string, pod types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.find(key, hash)
	if e == nil || e.pending[pod] == nil {
		return
	}
	e.Patches++
	if p := e.pending[pod]; !p.annotated {
		p.annotated = true
		e.Annotated.reach(l.now())
		if e.Annotated.Pods == e.Pods {
			l.reached(key, e.Change, Annotated)
		}
	}
}

// Confirm records a report of a pod about the last content. Once it has loaded that, it
// answers for the superseded ones, too.
func (l *Log) Confirm(key types.NamespacedName, hash string, pod types.NamespacedName, got Confirmed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.find(key, hash)
	now := l.now()
	if last == nil || !last.confirm(pod, got, now) {
		return
	}
	for _, e := range l.workloads[key].changes {
		if e != last && e.pending[pod] != nil {
			if got.Earlier != nil {
				var c Confirmed
				c.OnDisk, c.Loaded = got.Earlier(e.parts, e.Written)
				e.confirm(pod, c, now)
			}
			delete(e.pending, pod)
			l.settle(key, e)
		}
	}
	l.settle(key, last)
}

// find returns the last change of a workload if it has a hash, else nil.
func (l *Log) find(key types.NamespacedName, hash string) *entry {
	if w := l.workloads[key]; w != nil {
		return w.last(hash)
	}
	return nil
}

// ForgetPod records that a pod was deleted: no change waits for it.
func (l *Log) ForgetPod(key, pod types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workloads[key]
	if w == nil {
		return
	}
	for _, e := range w.changes {
		if e.forget(pod) {
			l.settle(key, e)
		}
	}
}

// Last returns the last changes of a workload, the last one first.
func (l *Log) Last(key types.NamespacedName) []Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workloads[key]
	if w == nil {
		return nil
	}
	out := make([]Change, 0, len(w.changes))
	for _, e := range slices.Backward(w.changes) {
		out = append(out, e.Change) // the objects are not modified any more
	}
	return out
}

package memo

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

const (
	// maxWatches is the maximum number of watches. Lists beyond it are read again after some
	// seconds.
	maxWatches = 60
	// afterRefusal and afterFailure are the delays before a watch is retried.
	afterRefusal = 5 * time.Minute
	afterFailure = 5 * time.Second
	// unwanted is the time after which a watch without reads and listeners ends.
	unwanted = 10 * time.Minute
)

// unwatchable are resources that change too often for a watch to help, and resources so sensitive
// that not even their metadata is watched.
var unwatchable = map[schema.GroupVersionResource]bool{readers.Events: true, readers.Secrets: true, readers.ConfigMaps: true}

// scope is the resource, namespace and label selector of a watch.
type scope struct {
	of                schema.GroupVersionResource
	namespace, labels string // empty for all
}

// state is the state of a watch.
type state struct {
	ctx     context.Context
	end     context.CancelFunc
	wanted  time.Time
	runs    bool // the watch is established and reports every change
	ended   bool
	refused time.Time // zero if it was not refused
}

// watches are the watches of the lists that were read.
type watches struct {
	ctx       context.Context
	changes   Source
	changed   func(s scope, o metav1.Object) // o is nil if anything may have changed
	listening func() bool                    // reports whether there are listeners

	mu     sync.Mutex
	states map[scope]*state
}

func newWatches(ctx context.Context, changes Source, changed func(scope, metav1.Object), listening func() bool) *watches {
	quiet := klog.NewContext(ctx, klog.Logger{}) // do not log failures: without a watch, results expire sooner
	return &watches{ctx: quiet, changes: changes, changed: changed, listening: listening, states: map[scope]*state{}}
}

// want watches a list: in all namespaces or, where that is forbidden, in its own.
func (w *watches) want(q cacheKey) {
	if w.changes == nil || unwatchable[q.of] {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.start(scope{q.of, "", q.labels})
	own := scope{q.of, q.namespace, q.labels}
	if q.namespace != "" && (all == nil || !all.refused.IsZero() || !all.runs && w.states[own] != nil) {
		w.start(own)
	}
}

// start starts a watch unless it runs, and returns it; nil if there are too many.
func (w *watches) start(s scope) *state {
	st := w.states[s]
	switch {
	case st == nil && len(w.states) >= maxWatches:
		return nil
	case st == nil:
		st = &state{}
		st.ctx, st.end = context.WithCancel(w.ctx)
		w.states[s] = st
		go w.run(s, st)
		time.AfterFunc(unwanted, func() { w.release(s, st) })
	case st.ended && time.Since(st.refused) >= afterRefusal:
		st.ended, st.refused = false, time.Time{}
		go w.run(s, st)
	}
	st.wanted = time.Now()
	return st
}

// release ends a watch that is no longer needed, or checks again later.
func (w *watches) release(s scope, st *state) {
	listening := w.listening()
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := unwanted - time.Since(st.wanted)
	switch {
	case w.ctx.Err() != nil:
	case rest > 0:
		time.AfterFunc(rest, func() { w.release(s, st) })
		return
	case listening:
		time.AfterFunc(unwanted, func() { w.release(s, st) })
		return
	}
	st.end()
	delete(w.states, s)
}

// covers reports whether a running watch reports every change of a result.
func (w *watches) covers(q cacheKey) bool {
	if q.account != "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range []scope{{q.of, "", q.labels}, {q.of, q.namespace, q.labels}, {q.of, "", ""}, {q.of, q.namespace, ""}} {
		if st := w.states[s]; st != nil && st.runs {
			return true
		}
	}
	return false
}

// run watches until the context ends or the API server refuses, and retries after other failures.
func (w *watches) run(s scope, st *state) {
	for {
		err := w.follow(s, st)
		w.mu.Lock()
		st.runs = false
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			st.refused, st.ended = time.Now(), true
		}
		ended := st.ended
		w.mu.Unlock()
		if ended {
			return
		}
		select {
		case <-st.ctx.Done():
			return
		case <-time.After(afterFailure):
		}
	}
}

// follow watches a scope from its current version until the watch fails.
func (w *watches) follow(s scope, st *state) error {
	version, err := w.changes.Now(st.ctx, s.of, s.namespace)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(st.ctx)
	defer cancel()
	from := watcher{w.changes, s, func() {
		w.mu.Lock()
		st.runs = true
		w.mu.Unlock()
		w.changed(s, nil) // results from before the start may lack a change that no event reports
	}}
	events, err := watchtools.NewRetryWatcherWithContext(ctx, version, from)
	if err != nil {
		return err
	}
	for event := range events.ResultChan() {
		if event.Type == watch.Error {
			return apierrors.FromObject(event.Object)
		}
		if object, is := event.Object.(metav1.Object); is {
			w.changed(s, object)
		}
	}
	return ctx.Err()
}

// watchSeconds is the duration of one watch. Without a limit, the API server chooses an unknown one, and a
// watch whose server is lost would never end.
const watchSeconds = 600

// watcher opens the watches of a scope, one after another.
type watcher struct {
	Source
	scope
	begun func()
}

// WatchWithContext implements cache.WatcherWithContext.
func (w watcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector = w.labels
	options.TimeoutSeconds = new(int64(watchSeconds))
	start := informer.Timely(func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return w.Watch(ctx, w.of, w.namespace, options)
	})
	out, err := start(ctx, options)
	if err == nil {
		w.begun()
	}
	return out, err
}

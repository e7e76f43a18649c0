package cached

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
)

// feedPause is how long changes are collected before somebody is told of them.
const feedPause = 200 * time.Millisecond

// maxPending bounds the changes that one listener has not been told of. More than that is
// everything: whoever shows some of it reads it again at the next change.
const maxPending = 5000

// feed tells of changes. Whoever makes one never waits for those who listen.
type feed struct {
	start   int64 // of the process, so that versions of two are different
	version atomic.Uint64

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener collects changes.
type listener struct {
	wake chan struct{} // has one element when there are changes

	mu      sync.Mutex
	pending map[insight.Change]struct{}
}

func (f *feed) init() { f.start, f.listeners = time.Now().UnixNano(), map[*listener]struct{}{} }

// bump notes a change that nobody is told of.
func (f *feed) bump() { f.version.Add(1) }

func (f *feed) tell(change insight.Change) {
	f.bump()
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		l.add(change)
	}
}

func (l *listener) add(change insight.Change) {
	l.mu.Lock()
	if len(l.pending) < maxPending {
		l.pending[change] = struct{}{}
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *listener) take() map[insight.Change]struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.pending
	l.pending = map[insight.Change]struct{}{}
	return out
}

var kinds = map[engine.ChangeAbout]insight.ChangeKind{
	engine.AboutWorkload: insight.OwnerChanged, engine.AboutConfig: insight.ObjectChanged, engine.AboutPods: insight.RolloutChanged,
}

// Changed takes note of a change in the caches of a controller. It never blocks.
func (c *Cluster) Changed(of engine.Change) {
	kind, ok := kinds[of.About]
	if !ok {
		c.feed.bump()
		return
	}
	c.feed.tell(insight.Change{Kind: kind, Object: explain.Ref{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}})
}

// Version implements [insight.Versioned].
func (c *Cluster) Version() string {
	references := uint64(0)
	for _, s := range c.controllers() {
		_, changes := s.References()
		references += changes
	}
	return fmt.Sprintf("%x-%x-%x", c.feed.start, c.feed.version.Load(), references)
}

// Changes implements [insight.Feed]: each is told of a change once, a moment after it.
func (c *Cluster) Changes(ctx context.Context, each func(insight.Change)) error {
	l := &listener{wake: make(chan struct{}, 1), pending: map[insight.Change]struct{}{}}
	c.feed.mu.Lock()
	c.feed.listeners[l] = struct{}{}
	c.feed.mu.Unlock()
	defer func() {
		c.feed.mu.Lock()
		delete(c.feed.listeners, l)
		c.feed.mu.Unlock()
	}()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
		pause.Reset(feedPause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		for change := range l.take() {
			each(change)
		}
	}
}

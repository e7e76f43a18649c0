package insight

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Changes implements [Answers].
func (c *Cluster) Changes(ctx context.Context, each func(Change)) error {
	feed, is := c.Reader.(Feed)
	if !is {
		return apierrors.NewServiceUnavailable("changes are not known: what is read here is not watched")
	}
	return feed.Changes(ctx, each)
}

// maxListeners bounds those who wait for changes.
const maxListeners = 1000

// Broadcaster tells of changes to everybody who listens, for readers that watch. Changes of an
// object that come before its last one was told are told once. Its zero value is ready to use.
type Broadcaster struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is somebody to whom changes are told.
type listener struct {
	pending map[Change]struct{} // guarded by mu of the broadcaster
	order   []Change
	more    chan struct{} // has an element when something is pending
}

// pause is the time in which changes are collected.
const pause = 100 * time.Millisecond

// Tell makes a change known. It does not wait.
func (b *Broadcaster) Tell(c Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		if _, known := l.pending[c]; known {
			continue
		}
		l.pending[c] = struct{}{}
		l.order = append(l.order, c)
		select {
		case l.more <- struct{}{}:
		default:
		}
	}
}

// Changes implements [Feed].
func (b *Broadcaster) Changes(ctx context.Context, each func(Change)) error {
	l := &listener{pending: map[Change]struct{}{}, more: make(chan struct{}, 1)}
	if !b.add(l) {
		return apierrors.NewTooManyRequests("too many wait for changes", int(time.Minute/time.Second))
	}
	defer b.remove(l)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.more:
		}
		for _, c := range b.take(l) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			each(c)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (b *Broadcaster) add(l *listener) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[*listener]struct{}{}
	}
	if len(b.listeners) >= maxListeners {
		return false
	}
	b.listeners[l] = struct{}{}
	return true
}

func (b *Broadcaster) remove(l *listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.listeners, l)
}

// take is what is pending, in the order in which it was told.
func (b *Broadcaster) take(l *listener) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := l.order
	l.order, l.pending = nil, map[Change]struct{}{}
	return out
}

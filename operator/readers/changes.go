package readers

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Versioned is an optional interface of a [Reader] that can report that nothing has changed.
type Versioned interface {
	// Version returns a value that stays the same while every read returns the same.
	Version() string
}

// Feed is an optional interface of a [Reader] that reports changes.
type Feed interface {
	// Changes calls each for every change until the context ends. It blocks on each, which must
	// return quickly.
	Changes(ctx context.Context, each func(Change)) error
}

// ChangeKind is the part of a cluster that changed.
type ChangeKind string

const (
	// WorkloadChanged is a change of an object that the operator runs.
	WorkloadChanged ChangeKind = "workload"
	// ObjectChanged is a change of an object that workloads select.
	ObjectChanged ChangeKind = "object"
	// RolloutChanged is a change of the pods or sets of a workload.
	RolloutChanged ChangeKind = "rollout"
)

// Change is one change of a cluster.
type Change struct {
	Kind   ChangeKind  `json:"kind"`
	Object catalog.Ref `json:"object"`
}

// maxListeners is the maximum number of concurrent calls of [Broadcaster.Changes].
const maxListeners = 1000

// Broadcaster sends changes to all its listeners, without waiting for them. Changes of an object
// that a listener has not received yet are merged into one. The zero value is ready to use.
type Broadcaster struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// listener is one call of [Broadcaster.Changes].
type listener struct {
	pending map[Change]struct{} // guarded by mu of the broadcaster
	order   []Change
	more    chan struct{} // has an element while changes are pending
}

// mergeWindow is the minimum time between two deliveries to a listener. Changes in between are
// merged.
const mergeWindow = 100 * time.Millisecond

// Send queues a change for every listener. It does not block.
func (b *Broadcaster) Send(c Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		if _, queued := l.pending[c]; queued {
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

// Listening reports whether there is a listener.
func (b *Broadcaster) Listening() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.listeners) > 0
}

// Changes implements [Feed].
//
// Errors: the error of the context; 429 when there are too many listeners.
func (b *Broadcaster) Changes(ctx context.Context, each func(Change)) error {
	l := &listener{pending: map[Change]struct{}{}, more: make(chan struct{}, 1)}
	if !b.add(l) {
		return apierrors.NewTooManyRequests("too many requests wait for changes", int(time.Minute/time.Second))
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
		case <-time.After(mergeWindow):
		}
	}
}

// add registers a listener. It reports whether the limit allowed it.
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

// take returns and clears the pending changes, in the order in which they were sent.
func (b *Broadcaster) take(l *listener) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := l.order
	l.order, l.pending = nil, map[Change]struct{}{}
	return out
}

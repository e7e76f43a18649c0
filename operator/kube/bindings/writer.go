package bindings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// parallel is how many objects are written at the same time.
	parallel = 8
	// shownWithin bounds how long a write is remembered: a cache that shows nothing of
	// it by then never will, because the object was deleted.
	shownWithin = 10 * time.Minute
)

// Writer makes changes. It is safe for concurrent use, and meant to be shared by
// all who change the same objects.
type Writer struct {
	write func(ctx context.Context, c Change) (version string, bindings []v1.WorkloadBinding, err error)

	mu      sync.Mutex
	written map[id]*written
	swept   time.Time
}

type id struct{ resource, namespace, name string }

// written is what the API server has of an object whose copy in a cache is older.
type written struct {
	older    []string // versions that came before
	version  string
	bindings []v1.WorkloadBinding
	at       time.Time
}

// NewWriter returns a writer; write makes one change and returns what the API
// server has after it.
func NewWriter(write func(ctx context.Context, c Change) (version string, bindings []v1.WorkloadBinding, err error)) *Writer {
	return &Writer{write: write, written: map[id]*written{}}
}

// Current returns the object as it is after the writes that its cache does not
// show yet.
func (w *Writer) Current(obj Object) Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.written) == 0 {
		return obj
	}
	key := id{obj.Row.Resource, obj.Namespace, obj.Name}
	last := w.written[key]
	switch {
	case last == nil:
	case slices.Contains(last.older, obj.Version):
		obj.Version, obj.Bindings = last.version, last.bindings
	default:
		delete(w.written, key)
	}
	return obj
}

// Do makes changes, several at a time. Objects that are gone are passed by. One
// that somebody else has changed meanwhile is left, the others are still written.
//
// Errors: those objects, of which the first is named; any other error of the API
// server at once.
func (w *Writer) Do(ctx context.Context, changes []Change) error {
	var g *errgroup.Group
	g, ctx = errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	var mu sync.Mutex
	var late error
	for _, c := range changes {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := w.one(ctx, c)
			if apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
				mu.Lock()
				defer mu.Unlock()
				if late == nil {
					late = err
				}
				return nil
			}
			return err
		})
	}
	return errors.Join(g.Wait(), late)
}

func (w *Writer) one(ctx context.Context, c Change) error {
	version, bindings, err := w.write(ctx, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("status of %s %s/%s: %w", c.Object.Row.Resource, c.Object.Namespace, c.Object.Name, err)
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweep(now)
	key := id{c.Object.Row.Resource, c.Object.Namespace, c.Object.Name}
	last := w.written[key]
	if last == nil || last.version != c.Object.Version {
		last = &written{}
		w.written[key] = last
	}
	last.older = append(last.older, c.Object.Version)
	last.version, last.bindings, last.at = version, bindings, now
	return nil
}

// sweep forgets the writes of objects that are gone.
func (w *Writer) sweep(now time.Time) {
	if now.Sub(w.swept) < shownWithin {
		return
	}
	w.swept = now
	maps.DeleteFunc(w.written, func(_ id, last *written) bool { return now.Sub(last.at) > shownWithin })
}

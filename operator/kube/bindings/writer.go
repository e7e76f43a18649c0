package bindings

import (
	"context"
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
	// parallel is the maximum number of concurrent writes.
	parallel = 8
	// manyPlaces is the number of places that refuse changes after which no others are tried unless one was accepted.
	manyPlaces = 50
	// shownWithin is the lifetime of a remembered write. If the cache does not have it by
	// then, the object was deleted.
	shownWithin = 10 * time.Minute
)

// TurnBytes is the size of the objects after which [Writer.Do] leaves the other changes for later: the API server
// stores the whole object for each change.
const TurnBytes = 4 << 20

// Written is the state of an object in the API server after a write.
type Written struct {
	Version  string
	Bindings []v1.WorkloadBinding
	Bytes    int // size as JSON
}

// Writer writes changes. It is safe for concurrent use and should be shared by all code
// that changes the same objects.
type Writer struct {
	write func(ctx context.Context, c Change) (Written, error)

	mu      sync.Mutex
	written map[id]*written
	swept   time.Time
}

type id struct{ resource, namespace, name string }

// written is the state in the API server of an object whose cached copy is older.
type written struct {
	older    []string // previous versions
	version  string
	bindings []v1.WorkloadBinding
	at       time.Time
}

// NewWriter returns a Writer. write executes one change and returns the resulting state in the API server.
func NewWriter(write func(ctx context.Context, c Change) (Written, error)) *Writer {
	return &Writer{write: write, written: map[id]*written{}}
}

// Current returns the object with the writes applied that its cache does not have yet.
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

// Do writes changes concurrently. Deleted objects are ignored. An object that was changed
// concurrently, or whose change is refused, is skipped, and the others are still written, until bytes, the size of
// the written objects, exceeds [TurnBytes]. If all objects of a [Place] would be refused, its other changes are skipped
// too.
//
// Errors: any other error of the API server, immediately; a refusal of each of many places.
func (w *Writer) Do(ctx context.Context, changes []Change) (refused []RefusedChange, bytes int, err error) {
	var g *errgroup.Group
	g, ctx = errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	r := round{closed: map[Place]bool{}}
	for _, c := range changes {
		if ctx.Err() != nil || r.full() {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil || r.skips(c) {
				return ctx.Err()
			}
			n, err := w.one(ctx, c)
			return r.note(c, n, err)
		})
	}
	err = g.Wait()
	return r.refused, r.bytes, err
}

// round collects the results of one call of Do.
type round struct {
	mu      sync.Mutex
	refused []RefusedChange
	closed  map[Place]bool
	bytes   int
	any     bool // something was written
}

func (r *round) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes > TurnBytes
}

func (r *round) skips(c Change) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed[PlaceOf(c)]
}

// note records the result of a change and returns the error that ends the round.
func (r *round) note(c Change, bytes int, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += bytes
	r.any = r.any || err == nil
	place := ofPlace(err)
	if !place && !OfObject(err) {
		return err
	}
	r.refused = append(r.refused, RefusedChange{c, err, place})
	if place {
		r.closed[PlaceOf(c)] = true
	}
	if !r.any && len(r.closed) > manyPlaces {
		return err
	}
	return nil
}

// one makes one change and returns the size of the object.
func (w *Writer) one(ctx context.Context, c Change) (bytes int, err error) {
	result, err := w.write(ctx, c)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("status of %s %s/%s: %w", c.Object.Row.Resource, c.Object.Namespace, c.Object.Name, err)
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
	last.version, last.bindings, last.at = result.Version, result.Bindings, now
	return result.Bytes, nil
}

// sweep drops the writes of deleted objects.
func (w *Writer) sweep(now time.Time) {
	if now.Sub(w.swept) < shownWithin {
		return
	}
	w.swept = now
	maps.DeleteFunc(w.written, func(_ id, last *written) bool { return now.Sub(last.at) > shownWithin })
}

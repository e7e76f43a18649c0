package bindings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	// parallel is the maximum number of concurrent writes.
	parallel = 8
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

// Refused is a change that the API server refused, because of the object and not of the caller.
type Refused struct {
	Change Change
	Err    error
}

// Do writes changes concurrently. Deleted objects are ignored. An object that was changed
// concurrently, or whose change is refused, is skipped, and the others are still written, until bytes, the size of
// the written objects, exceeds [TurnBytes].
//
// Errors: any other error of the API server, immediately.
func (w *Writer) Do(ctx context.Context, changes []Change) (refused []Refused, bytes int, err error) {
	var g *errgroup.Group
	g, ctx = errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	var mu sync.Mutex
	full := func() bool { mu.Lock(); defer mu.Unlock(); return bytes > TurnBytes }
	for _, c := range changes {
		if ctx.Err() != nil || full() {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n, err := w.one(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			bytes += n
			if ofObject(err) {
				refused = append(refused, Refused{c, err})
				return nil
			}
			return err
		})
	}
	err = g.Wait()
	return refused, bytes, err
}

// ofObject reports whether an error concerns one object and not all: it has changed, a newer schema
// refuses it, or it would become too large.
func ofObject(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) || exceedsStorage(err)
}

// exceedsStorage reports whether the object and its status together are larger than etcd stores. The
// API server responds with 500 and no reason, so only the message of etcd, or of the connection to
// it, identifies it.
func exceedsStorage(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || status.ErrStatus.Code != http.StatusInternalServerError {
		return false
	}
	message := status.ErrStatus.Message
	return strings.Contains(message, "etcdserver: request is too large") || strings.Contains(message, "trying to send message larger than max")
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

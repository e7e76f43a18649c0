// Package eventqueue sends Events at a limited rate, and namespaces take turns. A user who makes the operator report
// thousands of objects again and again, with one change of a Secret that all of them refer to, delays neither Events
// about other objects nor other requests, and does not fill memory.
package eventqueue

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

const (
	// most is the maximum number of waiting Events. Each takes about 2 kB. Beyond it, the namespace
	// with the most waiting Events loses one for each new one.
	most = 10_000
	// burst is the number of Events that are sent without a pause, in seconds of the rate.
	burst = 5
)

// Queue holds Events until they are sent. It is safe for concurrent use. Use New to create one.
type Queue struct {
	scheme *runtime.Scheme
	pace   flowcontrol.RateLimiter
	keys   *queue.Queue

	mu      sync.Mutex
	waiting map[string]map[string]event // by namespace and identity
	n       int
}

// event is a waiting Event.
type event struct {
	to                         events.EventRecorder
	regarding, related         *corev1.ObjectReference // related may be nil
	kind, reason, action, note string
}

// New returns a queue that sends at most that many Events per second. scheme has the kinds of all
// objects that Events are about.
func New(scheme *runtime.Scheme, rate float32) *Queue {
	return &Queue{
		scheme: scheme, pace: flowcontrol.NewTokenBucketRateLimiter(rate, max(1, int(burst*rate))),
		keys: queue.New(queue.Options{First: time.Second, Last: time.Second}), waiting: map[string]map[string]event{},
	}
}

// Recorder returns a recorder that queues Events. to sends them.
func (q *Queue) Recorder(to events.EventRecorder) events.EventRecorder { return &recorder{q, to} }

type recorder struct {
	queue *Queue
	to    events.EventRecorder
}

// Eventf implements [events.EventRecorder]. A waiting Event with the same objects and the same
// reason is replaced.
func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := reference.GetReference(r.queue.scheme, regarding)
	if err != nil {
		r.to.Eventf(regarding, related, kind, reason, action, note, args...) // for its error
		return
	}
	e := event{to: r.to, regarding: about, kind: kind, reason: reason, action: action, note: fmt.Sprintf(note, args...)}
	if related != nil {
		e.related, _ = reference.GetReference(r.queue.scheme, related) // optional
	}
	r.queue.add(e)
}

// key identifies the objects and the reason of an Event.
func (e *event) key() types.NamespacedName {
	id := []string{e.regarding.Kind, e.regarding.Name, e.reason}
	if e.related != nil {
		id = append(id, e.related.Kind, e.related.Namespace, e.related.Name)
	}
	return types.NamespacedName{Namespace: e.regarding.Namespace, Name: strings.Join(id, "/")}
}

func (q *Queue) add(e event) {
	key := e.key()
	q.mu.Lock()
	if _, replaced := q.waiting[key.Namespace][key.Name]; !replaced {
		if q.waiting[key.Namespace] == nil {
			q.waiting[key.Namespace] = map[string]event{}
		}
		q.n++
	}
	q.waiting[key.Namespace][key.Name] = e
	if q.n > most {
		q.dropOne()
	}
	q.mu.Unlock()
	q.keys.Add(key)
}

// dropOne drops an Event of the namespace with the most waiting Events.
func (q *Queue) dropOne() {
	largest := ""
	for namespace, waiting := range q.waiting {
		if len(waiting) > len(q.waiting[largest]) {
			largest = namespace
		}
	}
	for id := range q.waiting[largest] {
		q.remove(types.NamespacedName{Namespace: largest, Name: id})
		return
	}
}

func (q *Queue) remove(key types.NamespacedName) {
	delete(q.waiting[key.Namespace], key.Name)
	if len(q.waiting[key.Namespace]) == 0 {
		delete(q.waiting, key.Namespace)
	}
	q.n--
}

// Run sends Events until the context ends. Those that still wait are dropped.
func (q *Queue) Run(ctx context.Context) {
	q.keys.Run(ctx, 1, func(ctx context.Context, key types.NamespacedName) {
		if !q.has(key) || q.pace.Wait(ctx) != nil {
			return
		}
		if e, ok := q.take(key); ok { // its current state: it may have been replaced, or dropped
			e.send()
		}
	})
}

func (q *Queue) has(key types.NamespacedName) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok := q.waiting[key.Namespace][key.Name]
	return ok
}

func (q *Queue) take(key types.NamespacedName) (e event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, ok = q.waiting[key.Namespace][key.Name]; ok {
		q.remove(key)
	}
	return e, ok
}

func (e *event) send() {
	var related runtime.Object // a nil pointer would be an object
	if e.related != nil {
		related = e.related
	}
	e.to.Eventf(e.regarding, related, e.kind, e.reason, e.action, "%s", e.note)
}

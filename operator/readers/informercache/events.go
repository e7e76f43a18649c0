package informercache

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Limits for the Events that are kept.
const (
	maxEvents       = 2000
	maxEventsOfEach = 20 // per workload
)

// Events keeps the latest Events that the operator sent. It is safe for concurrent use.
type Events struct {
	changed func()

	mu   sync.Mutex
	sent []*corev1.Event // oldest first; copied on write
	next int             // for unique names
}

// Recorder returns a recorder that keeps the Events of a component and forwards them to next, which
// is nil when Events cannot be sent.
func (e *Events) Recorder(component string, next events.EventRecorder) events.EventRecorder {
	return &recorder{e, component, next}
}

type recorder struct {
	to        *Events
	component string
	next      events.EventRecorder
}

// Eventf implements [events.EventRecorder].
func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if about, ok := refOf(regarding); ok {
		event := corev1.Event{
			Source: corev1.EventSource{Component: r.component}, Type: kind, Reason: reason, Action: action, Message: fmt.Sprintf(note, args...),
			InvolvedObject: about,
		}
		if other, ok := refOf(related); ok {
			event.Related = &other
		}
		r.to.note(event)
	}
	if r.next != nil {
		r.next.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}

// refOf returns a reference to an object; ok is false if it is none.
func refOf(o runtime.Object) (ref corev1.ObjectReference, ok bool) {
	object, is := o.(readers.Object)
	if !is {
		return ref, false
	}
	kind := o.GetObjectKind().GroupVersionKind()
	for _, row := range catalog.All {
		if kind.Empty() && reflect.TypeOf(row.New()) == reflect.TypeOf(o) { // cached objects have no TypeMeta
			kind = row.GroupVersionKind
		}
	}
	apiVersion, name := kind.ToAPIVersionAndKind()
	return corev1.ObjectReference{
		APIVersion: apiVersion, Kind: name, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		ResourceVersion: object.GetResourceVersion(),
	}, true
}

// workloadOf returns the workload that an Event is about, or its object if there is no workload.
func workloadOf(e *corev1.Event) (kind, namespace, name string) {
	about := &e.InvolvedObject
	if e.Related != nil {
		about = e.Related
	}
	return about.Kind, about.Namespace, about.Name
}

// note adds an Event. Repetitions increase the count.
func (e *Events) note(event corev1.Event) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	event.Namespace, event.FirstTimestamp, event.LastTimestamp, event.Count = event.InvolvedObject.Namespace, now, now, 1
	e.mu.Lock()
	e.next++
	event.Name = fmt.Sprintf("%s.%x", event.InvolvedObject.Name, e.next)
	sent := slices.DeleteFunc(slices.Clone(e.sent), func(old *corev1.Event) bool {
		same := old.Reason == event.Reason && old.Message == event.Message && equal(&old.InvolvedObject, &event.InvolvedObject)
		if same {
			event.Count, event.FirstTimestamp = old.Count+1, old.FirstTimestamp
		}
		return same
	})
	e.sent = bounded(append(sent, &event))
	e.mu.Unlock()
	if e.changed != nil {
		e.changed()
	}
}

func equal(a, b *corev1.ObjectReference) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && a.UID == b.UID
}

// bounded drops the oldest Event of a workload that has too many, and the oldest of all above the
// limit.
func bounded(all []*corev1.Event) []*corev1.Event {
	kind, namespace, name := workloadOf(all[len(all)-1])
	of, first := 0, -1
	for i, e := range all {
		if k, ns, n := workloadOf(e); k == kind && ns == namespace && n == name {
			if of++; first < 0 {
				first = i
			}
		}
	}
	if of > maxEventsOfEach {
		all = slices.Delete(all, first, first+1)
	}
	return all[max(0, len(all)-maxEvents):]
}

// list returns the Events that match a query, oldest first.
func (e *Events) list(q readers.Query) (out []readers.Object) {
	e.mu.Lock()
	all := e.sent
	e.mu.Unlock()
	for _, event := range all {
		if q.Namespace != "" && event.Namespace != q.Namespace || q.Name != "" && event.Name != q.Name {
			continue
		}
		if kept := q.Kept(event); kept != nil {
			out = append(out, kept)
		}
	}
	return out
}

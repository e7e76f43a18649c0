package informer

import (
	"fmt"
	"runtime/debug"
	"slices"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// Event is one change of an object. Before is the zero value for an addition,
// After for a deletion.
type Event[T Object] struct {
	Action string // "add", "update" or "delete"
	Before T
	After  T
}

// Object returns the newest version of the object in the event.
func (e Event[T]) Object() T {
	if e.Action == "delete" {
		return e.Before
	}
	return e.After
}

// OnChange calls handle for every change. Resyncs of unchanged objects are skipped, and deletions
// that were noticed late are unwrapped. It can be called several times; handlers run
// independently. A panic of a handler is logged and does not affect other events.
func (s *Store[T]) OnChange(do func(Event[T])) error {
	handle := func(e Event[T]) {
		defer func() {
			if p := recover(); p != nil {
				obj := e.Object()
				klog.ErrorS(nil, "event handler panicked", "resource", s.name, "namespace", obj.GetNamespace(), "name", obj.GetName(),
					"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		do(e)
	}
	for _, inf := range s.informers {
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(raw any) {
				s.refresh(raw.(T))
				handle(Event[T]{Action: "add", After: raw.(T)})
			},
			UpdateFunc: func(before, after any) {
				s.refresh(after.(T))
				if b, a := before.(T), after.(T); b.GetResourceVersion() != a.GetResourceVersion() || capacity.IsStub(b) != capacity.IsStub(a) {
					handle(Event[T]{Action: "update", Before: b, After: a})
				}
			},
			DeleteFunc: func(raw any) {
				if tomb, ok := raw.(cache.DeletedFinalStateUnknown); ok {
					raw = tomb.Obj
				}
				if obj, ok := raw.(T); ok {
					s.refresh(obj)
					handle(Event[T]{Action: "delete", Before: obj})
				}
			},
		})
		if err != nil {
			return fmt.Errorf("handle events of %s: %w", s.name, err)
		}
	}
	// Events of existing objects arrive later and one by one. A reconciliation meanwhile must not
	// treat the remaining ones as deleted.
	s.order.fill(func() []T { return slices.Collect(s.All()) })
	return nil
}

// refresh updates the order with the currently cached object, because another handler may be
// ahead of this event.
func (s *Store[T]) refresh(obj T) {
	s.order.note(obj, s.tight(), func() (T, bool) { return s.Get(obj.GetNamespace(), obj.GetName()) })
}

package informer

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// Bounds limits the objects that a store caches and defines how it reads them.
type Bounds struct {
	Capacity *capacity.Capacity
	Kind     string
	Compiles bool // whether workloads compile the objects
	// Page lists objects if the response has at most most bytes.
	//
	// Errors: [capacity.ErrTooLong] if it is larger.
	Page func(ctx context.Context, namespace string, o metav1.ListOptions, most int64) (list runtime.Object, bytes int64, err error)
	// Read reads one object.
	Read func(ctx context.Context, name types.NamespacedName) (runtime.Object, error)
}

// bounded is a list-watcher that adds objects to a capacity before they reach the store. In
// addition to the changes of the API server, it sends those objects that the capacity trims
// or restores.
type bounded struct {
	Bounds
	namespace string // "" means all
	tweak     func(*metav1.ListOptions)
	watcher   cache.WatchFuncWithContext
	trim      cache.TransformFunc
	example   Object
	in        *capacity.Cache
}

func newBounded(w Watch, namespace string, api *cache.ListWatch, example Object, trim cache.TransformFunc) *bounded {
	b := *w.Bounds
	out := &bounded{Bounds: b, namespace: namespace, tweak: w.tweak, watcher: api.WatchFuncWithContext, trim: trim, example: example}
	out.in = b.Capacity.Cache(b.Kind, b.Compiles, func(ctx context.Context, name types.NamespacedName) (Object, error) {
		obj, err := b.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		return out.trimmed(obj)
	})
	return out
}

func (b *bounded) trimmed(obj runtime.Object) (Object, error) {
	trimmed, err := b.trim(obj)
	if err != nil {
		return nil, err
	}
	out, ok := trimmed.(Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", obj)
	}
	return out, nil
}

func (b *bounded) listWatch() *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: b.list, WatchFuncWithContext: b.watch}
}

// list lists all objects in pages and decodes one page at a time.
func (b *bounded) list(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	var o metav1.ListOptions
	b.tweak(&o)
	version, err := listPages(ctx, o, func(ctx context.Context, o metav1.ListOptions, most int64) (runtime.Object, int64, error) {
		return b.Page(ctx, b.namespace, o, most)
	}, b.in.Relist, b.enter)
	if err != nil {
		return nil, err
	}
	return listOf(version, b.in.Listed()), nil
}

func (b *bounded) enter(item runtime.Object) error {
	obj, err := b.trimmed(item)
	if err == nil {
		b.in.Enter(obj)
	}
	return err
}

func (b *bounded) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	events, err := b.watcher(ctx, o)
	if err != nil {
		return nil, err
	}
	f := &forwarding{bounded: b, from: events, out: make(chan watch.Event), version: o.ResourceVersion}
	proxy := watch.NewProxyWatcher(f.out)
	f.stop = proxy.StopChan()
	if f.initial = o.SendInitialEvents != nil && *o.SendInitialEvents; f.initial {
		b.in.Relist()
	}
	go f.run()
	return proxy, nil
}

// forwarding is one watch.
type forwarding struct {
	*bounded
	from    watch.Interface
	out     chan watch.Event
	stop    <-chan struct{}
	version string // of the last event of the API server
	initial bool   // the events still belong to the initial list
}

func (f *forwarding) run() {
	defer close(f.out)
	defer f.from.Stop()
	for f.changed() {
		select {
		case <-f.stop:
			return
		case <-f.in.Changed():
		case e, open := <-f.from.ResultChan():
			if !open || !f.send(f.entered(e)) {
				return
			}
		}
	}
}

// changed sends objects whose cached form has changed. It returns false if the watch has
// ended. Such an object has an old version, so a bookmark with the watch's version follows.
func (f *forwarding) changed() bool {
	objects := f.in.Take()
	for i, obj := range objects {
		if !f.send(watch.Event{Type: watch.Modified, Object: obj}) {
			f.in.Untake(objects[i:])
			return false
		}
	}
	if len(objects) == 0 || f.initial || f.version == "" {
		return true // initial events end with a version
	}
	mark := f.example.DeepCopyObject().(Object)
	mark.SetResourceVersion(f.version)
	return f.send(watch.Event{Type: watch.Bookmark, Object: mark})
}

func (f *forwarding) send(e watch.Event) bool {
	select {
	case f.out <- e:
		return true
	case <-f.stop:
		return false
	}
}

// entered converts an event of the API server to the event for the store.
func (f *forwarding) entered(e watch.Event) watch.Event {
	obj, is := e.Object.(Object)
	if e.Type == watch.Error || !is {
		return e
	}
	if !f.initial || e.Type == watch.Bookmark {
		f.version = obj.GetResourceVersion()
	}
	switch e.Type {
	case watch.Bookmark:
		if f.initial && obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			f.initial = false
			f.in.Listed()
		}
		return e
	case watch.Deleted:
		f.in.Remove(obj)
		return e
	}
	trimmed, err := f.trimmed(obj)
	if err != nil {
		return e
	}
	e.Object = f.in.Enter(trimmed)
	return e
}

// tight reports whether the capacity for the objects of the store is half used, so that
// objects that the store has dropped must be released immediately.
func (s *Store[T]) tight() bool {
	return len(s.bounded) > 0 && s.bounded[0].Capacity.Tight()
}

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

// Bounds says how much of its objects a store keeps, and how it reads them.
type Bounds struct {
	Capacity *capacity.Capacity
	Kind     string
	Compiles bool // workloads compile the objects
	// Page lists objects as far as the answer has at most some bytes.
	//
	// Errors: [capacity.ErrTooLong] if it has more.
	Page func(ctx context.Context, namespace string, o metav1.ListOptions, most int64) (list runtime.Object, bytes int64, err error)
	// Read reads one object.
	Read func(ctx context.Context, name types.NamespacedName) (runtime.Object, error)
}

// bounded is a list-watcher whose objects are entered into a capacity on their way into the
// store. It sends, beside the changes of the API server, those of what there is room for.
type bounded struct {
	Bounds
	namespace string // "" for all
	tweak     func(*metav1.ListOptions)
	watcher   cache.WatchFuncWithContext
	trim      cache.TransformFunc
	example   Object
	in        *capacity.Cache
}

func newBounded(b Bounds, namespace string, w Watch, api *cache.ListWatch, example Object, trim cache.TransformFunc) *bounded {
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

// list lists everything in pages, of which each is in memory alone.
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
	initial bool   // the events are still those of objects that were there at the beginning
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

// changed sends what the store is to hold in another form; false when the watch has ended.
// The version of such an object is an old one, which must not be taken for that of the watch.
func (f *forwarding) changed() bool {
	objects := f.in.Take()
	for i, obj := range objects {
		if !f.send(watch.Event{Type: watch.Modified, Object: obj}) {
			f.in.Untake(objects[i:])
			return false
		}
	}
	if len(objects) == 0 || f.initial || f.version == "" {
		return true // the initial events end with a version
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

// entered is the event that the store gets in place of one of the API server.
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

// tight reports whether the room for the objects of the store is half full: nothing is to
// keep an object that the store does not have any more.
func (s *Store[T]) tight() bool {
	return len(s.bounded) > 0 && s.bounded[0].Capacity.Tight()
}

package informer

import (
	"context"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// snapshot is the result of one read.
type snapshot struct {
	objects map[types.NamespacedName]Object
	version string                             // of the list; "" without one
	how     mode                               // byList or byName
	due     map[types.NamespacedName]time.Time // byName: time of the next read
}

// read lists the objects, or gets each of them if listing is forbidden.
func (p *poller) read(ctx context.Context, how mode, o metav1.ListOptions) (snapshot, error) {
	if how == byList && p.Names != nil {
		may, err := p.may(ctx, "list", p.namespace)
		if err != nil {
			return snapshot{}, err
		}
		if !may {
			how = byName
		}
	}
	if how == byList {
		list, err := p.api.ListWithContext(ctx, o)
		if err == nil {
			return p.listed(list)
		}
		if p.Names == nil || !apierrors.IsForbidden(err) {
			return snapshot{}, err
		}
	}
	return p.named(ctx)
}

func (p *poller) listed(list runtime.Object) (snapshot, error) {
	out := snapshot{objects: map[types.NamespacedName]Object{}, how: byList}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return out, err
	}
	out.version = about.GetResourceVersion()
	return out, meta.EachListItem(list, func(item runtime.Object) error {
		obj, err := p.trimmed(item)
		if err == nil {
			out.objects[catalog.KeyOf(obj)] = obj
		}
		return err
	})
}

// named gets each object for the first time. Forbidden ones stay in the store as they are.
func (p *poller) named(ctx context.Context) (snapshot, error) {
	out := snapshot{objects: map[types.NamespacedName]Object{}, how: byName, due: map[types.NamespacedName]time.Time{}}
	names, err := p.Names(ctx)
	if err != nil {
		return out, err
	}
	for _, name := range names {
		if p.namespace != "" && name.Namespace != p.namespace {
			continue
		}
		got, err := p.one(ctx, name)
		if err != nil {
			return out, err
		}
		out.due[name] = got.due
		if got.refused {
			got.object = p.stored(name)
		}
		if got.object != nil {
			out.objects[name] = got.object
		}
	}
	return out, nil
}

// one is the result of getting one object.
type one struct {
	object  Object // nil: not in the store
	refused bool   // its existence is unknown
	due     time.Time
}

// one gets one object.
//
// Errors: no response of the API server, which affects all objects.
func (p *poller) one(ctx context.Context, name types.NamespacedName) (out one, err error) {
	obj, err := p.get(ctx, name)
	now := time.Now()
	out.due = now.Add(p.Every)
	switch {
	case apierrors.IsNotFound(err):
		p.cover.missing(name)
		return out, nil
	case apierrors.IsForbidden(err) && p.Unreadable != nil:
		obj, err = p.Unreadable(name), nil
	case apierrors.IsForbidden(err):
		out.refused, out.due = true, now.Add(retryRefused)
		err = nil
	}
	p.cover.present(name)
	if err != nil || out.refused || p.Selects != nil && !p.Selects(obj) {
		return out, err
	}
	out.object, err = p.trimmed(obj)
	return out, err
}

// trimmed returns the trimmed object, which is the one in the cache.
func (p *poller) trimmed(item runtime.Object) (Object, error) {
	out, err := p.trim(item)
	if err != nil {
		return nil, err
	}
	return out.(Object), nil
}

// changes returns the events between two reads in no particular order.
func changes(before, after map[types.NamespacedName]Object) []watch.Event {
	var out []watch.Event
	for name, obj := range after {
		old, had := before[name]
		switch {
		case !had:
			out = append(out, watch.Event{Type: watch.Added, Object: obj})
		case old.GetResourceVersion() != obj.GetResourceVersion():
			out = append(out, watch.Event{Type: watch.Modified, Object: obj})
		}
	}
	for name, obj := range before {
		if _, has := after[name]; !has {
			// The cache still holds this object, and the informer trims it again.
			out = append(out, watch.Event{Type: watch.Deleted, Object: obj.DeepCopyObject()})
		}
	}
	return out
}

package informer

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// Poll configures a store that may lack permission to watch or even to list its objects.
//
//	list | watch | the store
//	-----|-------|----------------------------------
//	yes  | yes   | watches
//	yes  | no    | lists periodically
//	no   |       | gets each object by its name, periodically
type Poll struct {
	Every time.Duration // pause between reads

	// Busy (optional) reports whether changes are expected; the pause is then Soon.
	Busy func() bool
	Soon time.Duration

	// Names (optional) returns the objects to get if listing is forbidden. Without it, permission to list is
	// required.
	Names func(ctx context.Context) ([]types.NamespacedName, error)
	// Unreadable (optional) returns a placeholder for an object whose get is forbidden too. Without it, the
	// store does not contain the object.
	Unreadable func(name types.NamespacedName) Object
	// Selects (optional) reports whether a named object belongs in the store.
	Selects func(Object) bool
	// Pace (optional) limits the rate of gets by name, except the first ones.
	Pace flowcontrol.RateLimiter

	// May (optional) reports whether objects of a namespace ("" for all) may be listed or watched, which
	// avoids forbidden calls. Without it, the calls are tried.
	May func(ctx context.Context, verb, namespace string) (bool, error)
	// Parts enables watches of single namespaces with named objects, if all namespaces cannot be watched but
	// these can.
	Parts bool
}

const (
	// retryWatch is the pause between attempts to watch while this is forbidden.
	retryWatch = 10 * time.Minute
	// retryLost is the first pause if watching was permitted before, because a starting API server forbids
	// everything for a while. It doubles up to retryWatch.
	retryLost = 15 * time.Second
)

// poller is the list-watcher of a store with a Poll. Its simulated watches end periodically with an error
// that makes the reflector list again, so that newly granted permissions are used.
type poller struct {
	Poll
	api       *cache.ListWatch
	part      func(namespace string) *cache.ListWatch // list-watcher of one namespace, for Parts
	get       getter
	trim      cache.TransformFunc
	namespace string          // "" means all
	result    func(err error) // called with the result of reads between two lists
	log       *slog.Logger

	last  snapshot // of the last list; a reflector does not list and watch concurrently
	mode  mode
	lost  time.Duration // pause until the next attempt to watch while forbidden; 0: retryWatch
	cover cover
	noted noting
}

// mode is how a poller notices changes.
type mode string

const (
	byWatch mode = "watch"
	byList  mode = "list"
	byName  mode = "get"
)

// snapshot is the result of one read.
type snapshot struct {
	objects map[types.NamespacedName]Object
	version string                             // of the list; "" without one
	how     mode                               // byList or byName
	due     map[types.NamespacedName]time.Time // byName: time of the next read
}

// listWatch returns the list-watcher for a reflector.
func (p *poller) listWatch() *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: p.list, WatchFuncWithContext: p.watch}
}

// unstreamed prevents the reflector from requesting its first list as a watch.
type unstreamed struct{ *cache.ListWatch }

func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }

func (p *poller) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	o.Limit, o.Continue = 0, "" // a single page
	now, err := p.read(ctx, byList, o)
	if err != nil {
		return nil, err
	}
	p.cover.everything(now.how == byList, p.last.how == "")
	p.last = now
	out := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: now.version}}
	for _, obj := range now.objects {
		item := runtime.RawExtension{Object: obj}
		if now.how == byName {
			item.Object = obj.DeepCopyObject() // as in byNames.apply
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// may reports whether a call is permitted or should be tried.
func (p *poller) may(ctx context.Context, verb, namespace string) (bool, error) {
	if p.May == nil {
		return true, nil
	}
	return p.May(ctx, verb, namespace)
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
			out.objects[nameOf(obj)] = obj
		}
		return err
	})
}

// named gets each object for the first time.
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

func nameOf(obj Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// trimmed returns the trimmed object, which is the one in the cache.
func (p *poller) trimmed(item runtime.Object) (Object, error) {
	out, err := p.trim(item)
	if err != nil {
		return nil, err
	}
	return out.(Object), nil
}

func (p *poller) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil {
		return p.stream(ctx, o)
	}
	if p.last.how != byName {
		events, err := p.tryWatch(ctx, o)
		switch {
		case err == nil && events != nil:
			p.last.objects = nil // outdated while watching
			p.now(byWatch)
			return events, nil
		case err != nil && !apierrors.IsForbidden(err):
			return nil, err
		case p.last.objects == nil:
			return nil, listAgain() // to know the objects before the first poll
		}
	}
	p.now(p.last.how)
	events := make(chan watch.Event)
	out := watch.NewProxyWatcher(events)
	retry := cmp.Or(p.lost, retryWatch)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-out.StopChan():
		case <-ctx.Done():
		}
	}()
	go func() {
		defer close(events)
		defer cancel()
		send := func(e watch.Event) bool {
			select {
			case events <- e:
				return true
			case <-ctx.Done():
				return false
			}
		}
		if p.last.how == byName {
			p.runNames(ctx, p.last, retry, send)
			return
		}
		p.run(ctx, p.last, retry, send)
	}()
	return out, nil
}

// stream returns a watch that begins with all objects instead of a list.
//
// Errors: not permitted, so that the reflector lists.
func (p *poller) stream(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	may, err := p.may(ctx, "list", p.namespace)
	if err != nil {
		return nil, err
	}
	var events watch.Interface
	if may {
		events, err = p.tryWatch(ctx, o)
	}
	if err != nil || events == nil {
		return nil, cmp.Or(err, error(apierrors.NewMethodNotSupported(schema.GroupResource{}, "watch")))
	}
	p.cover.everything(true, p.last.how == "")
	p.last = snapshot{how: byList}
	p.now(byWatch)
	return events, nil
}

// tryWatch starts a watch; it returns nil if this is known to be forbidden.
func (p *poller) tryWatch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	may, err := p.may(ctx, "watch", p.namespace)
	if err != nil || !may {
		return nil, err
	}
	return p.api.WatchWithContext(ctx, o)
}

// now records the current mode and logs a change of it. The first mode is not logged, because the startup
// warning lists the missing permissions.
func (p *poller) now(how mode) {
	before := p.mode
	p.mode = how
	switch {
	case how == byWatch:
		p.lost = retryLost
	case before != byWatch && p.lost > 0: // still forbidden
		p.lost = min(2*p.lost, retryWatch)
	}
	switch {
	case before == "" || before == how:
	case how == byWatch:
		p.log.Info("watch permission granted: changes are seen immediately")
	default:
		p.log.Warn("watch permission lost: changes are seen later, by polling", "read_by", string(how), "interval", p.Every.String())
	}
}

// run polls and sends the changes until a real watch should be tried.
func (p *poller) run(ctx context.Context, last snapshot, retry time.Duration, send func(watch.Event) bool) {
	began, read := time.Now(), time.Now()
	tick := time.NewTicker(p.pause())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(began) >= retry {
			again := listAgain().Status()
			send(watch.Event{Type: watch.Error, Object: &again})
			return
		}
		if p.Busy != nil && !p.Busy() && time.Since(read) < p.Every {
			continue
		}
		next, err := p.read(ctx, byList, metav1.ListOptions{})
		if ctx.Err() != nil {
			return
		}
		read = time.Now()
		p.result(err)
		if err != nil {
			continue // keep the previous objects
		}
		for _, e := range changes(last.objects, next.objects) {
			if !send(e) {
				return
			}
		}
		last = next
	}
}

// listAgain returns the error that makes a reflector list again.
func listAgain() *apierrors.StatusError {
	return apierrors.NewResourceExpired("permissions may have changed")
}

func (p *poller) pause() time.Duration {
	if p.Busy != nil {
		return p.Soon
	}
	return p.Every
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

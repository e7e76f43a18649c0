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

// Poll configures a store without permission to watch its objects, or even to
// list them.
//
//	list | watch | the store
//	-----|-------|----------------------------------
//	yes  | yes   | watches
//	yes  | no    | lists periodically
//	no   |       | gets each object by its name, periodically
type Poll struct {
	Every time.Duration // pause between two reads

	// Busy (optional) reports that changes are expected; the pause is Soon then.
	Busy func() bool
	Soon time.Duration

	// Names (optional) are the objects to get where they may not be listed. Without
	// it, list is required.
	Names func(ctx context.Context) ([]types.NamespacedName, error)
	// Unreadable (optional) replaces an object that may not be read either. Without it
	// the store does not have such an object.
	Unreadable func(name types.NamespacedName) Object
	// Selects (optional) tells which of the named objects the store is for.
	Selects func(Object) bool
	// Pace (optional) bounds how fast objects are got by name, after the first time.
	Pace flowcontrol.RateLimiter

	// May (optional) tells whether objects of a namespace ("" for all) may be listed or
	// watched, so that nothing is tried in vain. Without it, trying tells.
	May func(ctx context.Context, verb, namespace string) (bool, error)
	// Parts: where not all namespaces may be watched, those of named objects are watched
	// that may be, each on its own.
	Parts bool
}

const (
	// retryWatch is the time between two attempts to watch where that is not permitted.
	retryWatch = 10 * time.Minute
	// retryLost is the time until the first attempt where it was permitted before: an API server that starts
	// refuses everything for a while. It doubles up to retryWatch.
	retryLost = 15 * time.Second
)

// poller is the list-watcher of a store with a Poll. Its watches end after a while
// in a way that makes the reflector list again, so that a permission that was given
// meanwhile is used.
type poller struct {
	Poll
	api       *cache.ListWatch
	part      func(namespace string) *cache.ListWatch // for Parts
	get       getter
	trim      cache.TransformFunc
	namespace string          // "" for all
	result    func(err error) // told how reads between two lists went
	log       *slog.Logger

	last  snapshot // of the last list; a reflector never lists and watches at the same time
	mode  mode
	lost  time.Duration // until the next attempt to watch after a refusal; 0: retryWatch
	cover cover
	noted noting
}

// mode is how a poller learns of changes.
type mode string

const (
	byWatch mode = "watch"
	byList  mode = "list"
	byName  mode = "get"
)

// snapshot is what one read found.
type snapshot struct {
	objects map[types.NamespacedName]Object
	version string                             // of the list, "" without one
	how     mode                               // byList or byName
	due     map[types.NamespacedName]time.Time // byName: when to read again
}

// listWatch is the poller for a reflector.
func (p *poller) listWatch() *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: p.list, WatchFuncWithContext: p.watch}
}

// unstreamed keeps the reflector from asking for its first list as a watch.
type unstreamed struct{ *cache.ListWatch }

func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }

func (p *poller) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	o.Limit, o.Continue = 0, "" // one page
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

// may reports whether a call is worth a try.
func (p *poller) may(ctx context.Context, verb, namespace string) (bool, error) {
	if p.May == nil {
		return true, nil
	}
	return p.May(ctx, verb, namespace)
}

// read lists, or gets each object where that is all that is permitted.
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

// one is what getting one object gave.
type one struct {
	object  Object // nil: the store does not have it
	refused bool   // and nobody knows whether it exists
	due     time.Time
}

// one gets one object.
//
// Errors: the API server did not answer, which is about all objects.
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

// trimmed is what will be kept: the objects are those of the cache.
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
			p.last.objects = nil // outdated from now on
			p.now(byWatch)
			return events, nil
		case err != nil && !apierrors.IsForbidden(err):
			return nil, err
		case p.last.objects == nil:
			return nil, listAgain() // to know what the polls begin with
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

// stream is a watch that begins with all objects, in place of a list.
//
// Errors: that is not permitted, and the reflector lists.
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

// tryWatch watches; nil when it is known to be in vain.
func (p *poller) tryWatch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	may, err := p.may(ctx, "watch", p.namespace)
	if err != nil || !may {
		return nil, err
	}
	return p.api.WatchWithContext(ctx, o)
}

// now records how changes are learnt of. The first answer is in the warning that names
// missing permissions at the start.
func (p *poller) now(how mode) {
	before := p.mode
	p.mode = how
	switch {
	case how == byWatch:
		p.lost = retryLost
	case before != byWatch && p.lost > 0: // refused again
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

// run lists again and again and sends what has changed, until it is time to try a real watch.
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
			continue // what was read before stands
		}
		for _, e := range changes(last.objects, next.objects) {
			if !send(e) {
				return
			}
		}
		last = next
	}
}

// listAgain makes a reflector start from the list.
func listAgain() *apierrors.StatusError {
	return apierrors.NewResourceExpired("permissions may have changed")
}

func (p *poller) pause() time.Duration {
	if p.Busy != nil {
		return p.Soon
	}
	return p.Every
}

// changes are the events between two reads, in no particular order.
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
			// The cache still has this one, and the informer trims it once more.
			out = append(out, watch.Event{Type: watch.Deleted, Object: obj.DeepCopyObject()})
		}
	}
	return out
}

package informer

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	stored    func(types.NamespacedName) Object // object in the store; nil if there is none
	trim      cache.TransformFunc
	namespace string          // "" means all
	result    func(err error) // called with the result of reads between two lists
	log       *slog.Logger

	last  snapshot // of the last list; a reflector does not list and watch concurrently
	mode  mode
	lost  time.Duration // pause until the next attempt to watch while forbidden; 0: retryWatch
	cover cover
	noted seenElsewhere
}

// mode is how a poller notices changes.
type mode string

const (
	byWatch mode = "watch"
	byList  mode = "list"
	byName  mode = "get"
)

// listWatch returns the list-watcher for a reflector.
func (p *poller) listWatch() *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: p.list, WatchFuncWithContext: p.watch}
}

// noWatchList prevents the reflector from requesting its first list as a watch.
type noWatchList struct{ *cache.ListWatch }

func (noWatchList) IsWatchListSemanticsUnSupported() bool { return true }

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
			p.startAgain(send)
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
		if next.how != byList { // the list is forbidden now, so objects that are not in it may exist
			p.startAgain(send)
			return
		}
		for _, e := range changes(last.objects, next.objects) {
			if !send(e) {
				return
			}
		}
		last = next
	}
}

// startAgain ends a watch so that the reflector lists and watches again.
func (p *poller) startAgain(send func(watch.Event) bool) {
	again := listAgain().Status()
	send(watch.Event{Type: watch.Error, Object: &again})
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

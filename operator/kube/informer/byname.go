package informer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// lookPeriod is the pause between checks for due objects.
	lookPeriod = 5 * time.Second
	// perLook is the maximum number of objects read before the names are refreshed.
	perLook = 100
	// retryRefused is the pause between reads of a forbidden object. Its dependents retry it more often.
	retryRefused = 8 * time.Minute
)

// byNames polls objects that cannot be listed in all namespaces: it gets each by name
// when it is due, new ones first. Namespaces take turns, so that one with many names does
// not delay the others. Namespaces that can be watched individually are watched
// (Poll.Parts).
type byNames struct {
	*poller
	send func(watch.Event) bool

	due   map[types.NamespacedName]time.Time // time of the next read
	parts map[string]*part                   // by namespace; nil: watching is forbidden
	asked map[string]time.Time               // time of the last permission check of a namespace

	mu      sync.Mutex // guards objects and the order of events
	objects map[types.NamespacedName]Object
}

// runNames polls until the context ends or another list should be tried.
func (p *poller) runNames(ctx context.Context, last snapshot, retry time.Duration, send func(watch.Event) bool) {
	n := &byNames{
		poller: p, send: send, objects: maps.Clone(last.objects),
		due: map[types.NamespacedName]time.Time{}, parts: map[string]*part{}, asked: map[string]time.Time{},
	}
	maps.Copy(n.due, last.due)
	p.noted.start()
	defer p.noted.stop()
	ctx, cancel := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel()
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(began) >= retry {
			if may, err := p.may(ctx, "list", p.namespace); may && err == nil {
				p.startAgain(send)
				return
			}
			began = time.Now()
		}
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = n.readDue(ctx, &watches); ctx.Err() == nil {
				p.result(err)
			}
		}
	}
}

// readDue reads some of the objects that are due. more is true if others are due, too.
func (n *byNames) readDue(ctx context.Context, watches *sync.WaitGroup) (more bool, err error) {
	names, err := n.Names(ctx)
	if err != nil {
		return false, err
	}
	if n.Parts {
		if names, err = n.watchParts(ctx, names, watches); err != nil {
			return false, err
		}
	}
	n.forget(names)
	n.take(names)
	turn := n.turn(names, time.Now())
	for _, name := range turn[:min(len(turn), perLook)] {
		if n.Pace != nil {
			if err := n.Pace.Wait(ctx); err != nil {
				return false, err
			}
		}
		if err := n.read(ctx, name); err != nil {
			return false, err
		}
	}
	return len(turn) > perLook, nil
}

// turn returns the due names: the first of each namespace, then the second of each, and so on.
func (n *byNames) turn(names []types.NamespacedName, now time.Time) []types.NamespacedName {
	var out []types.NamespacedName
	for _, name := range names {
		if (n.namespace == "" || name.Namespace == n.namespace) && !now.Before(n.due[name]) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int {
		return cmp.Or(n.due[a].Compare(n.due[b]), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	rank, count := map[types.NamespacedName]int{}, map[string]int{}
	for _, name := range out {
		rank[name] = count[name.Namespace]
		count[name.Namespace]++
	}
	slices.SortStableFunc(out, func(a, b types.NamespacedName) int { return rank[a] - rank[b] })
	return slices.Compact(out)
}

// read gets one object and sends the change.
//
// Errors: no response of the API server, which affects all objects.
func (n *byNames) read(ctx context.Context, name types.NamespacedName) error {
	got, err := n.one(ctx, name)
	if err != nil {
		return err
	}
	n.due[name] = got.due
	if got.refused {
		return nil // keep the previous object
	}
	after := map[types.NamespacedName]Object{}
	if got.object != nil {
		after[name] = got.object
	}
	n.replace(func(other types.NamespacedName) bool { return other == name }, after)
	return nil
}

// forget removes the objects that are neither named nor watched.
func (n *byNames) forget(names []types.NamespacedName) {
	wanted := map[types.NamespacedName]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	n.replace(func(name types.NamespacedName) bool { return !wanted[name] && n.parts[name.Namespace] == nil }, nil)
	maps.DeleteFunc(n.due, func(name types.NamespacedName, _ time.Time) bool { return !wanted[name] })
	n.cover.only(wanted)
}

// seenElsewhere collects objects that other code has read or written, until the next look.
type seenElsewhere struct {
	mu      sync.Mutex
	on      bool // whether objects are read by name
	objects map[types.NamespacedName]Object
}

// note records an object that was read or written elsewhere. Its deletion is then noticed
// even if it happens before the first read here.
func (n *seenElsewhere) note(obj Object) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.on {
		n.objects[catalog.KeyOf(obj)] = obj
	}
}

// start records objects from now on, and returns those that were recorded before.
func (n *seenElsewhere) start() map[types.NamespacedName]Object {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.objects
	n.on, n.objects = true, map[types.NamespacedName]Object{}
	return out
}

// stop drops the recorded objects and records no more.
func (n *seenElsewhere) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.on, n.objects = false, nil
}

// take adds recorded objects that are not in the store and schedules them to be read next.
func (n *byNames) take(names []types.NamespacedName) {
	noted := n.noted.start()
	for _, name := range names {
		n.mu.Lock()
		if obj := noted[name]; obj != nil && n.objects[name] == nil {
			delete(n.due, name)
			n.apply(watch.Event{Type: watch.Added, Object: obj})
		}
		n.mu.Unlock()
	}
}

// replace replaces the objects selected by some and sends the difference.
func (n *byNames) replace(some func(types.NamespacedName) bool, after map[types.NamespacedName]Object) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := map[types.NamespacedName]Object{}
	for name, obj := range n.objects {
		if some(name) {
			before[name] = obj
		}
	}
	for _, e := range changes(before, after) {
		n.apply(e)
	}
}

// apply sends one change. The informer gets a copy because it trims the object again. n.mu must be held.
func (n *byNames) apply(e watch.Event) {
	obj := e.Object.(Object)
	name := catalog.KeyOf(obj)
	if e.Type == watch.Deleted {
		delete(n.objects, name)
	} else {
		n.objects[name], e.Object = obj, obj.DeepCopyObject()
	}
	n.send(e)
}

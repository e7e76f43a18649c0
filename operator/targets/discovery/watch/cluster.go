package watch

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/compact"
)

// idle is how long informers and groups are kept after their last subscription closed.
const idle = 10 * time.Minute

// mostSpare is the maximum number of unused views of one-time subscriptions.
const mostSpare = 8

// Cluster provides the target groups of a cluster. Nothing is listed before the first subscription.
// It is safe for concurrent use.
type Cluster struct {
	// Lists creates the list and watch functions.
	Lists Lists
	// Namespaces that may be listed, one by one; nil lists all namespaces at once.
	Namespaces []string

	mu      sync.Mutex
	sources map[place]*source
	leases  map[string]*lease
	spare   []*lease // unused views of one-time subscriptions; the oldest first
	table   compact.Table
	turns   turns
}

// lease is a view with a reference count. The view is kept for a while after its last use.
type lease struct {
	view  *view
	key   string
	users int
	timer *time.Timer // while there are no users
	once  bool        // all users were one-time subscriptions
}

// Subscribe starts a discovery. own is the namespace of the workload. wake is called when there are changes to take and
// when the groups have become complete; it must not block. Existing groups can be taken immediately.
//
// Errors: the discovery uses another cluster; an unknown role; selectors that cannot be applied.
func (c *Cluster) Subscribe(sd *targets.KubernetesSD, own string, wake func()) (*Subscription, error) {
	return c.subscribe(sd, own, wake, false)
}

// SubscribeOnce is like [Cluster.Subscribe] for one-time requests, which can be arbitrary. Groups
// of a few such requests are kept, so that a client can repeat a request until they are complete.
func (c *Cluster) SubscribeOnce(sd *targets.KubernetesSD, own string, wake func()) (*Subscription, error) {
	return c.subscribe(sd, own, wake, true)
}

func (c *Cluster) subscribe(sd *targets.KubernetesSD, own string, wake func(), once bool) (*Subscription, error) {
	kinds, err := discovery.LocalKinds(sd)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if _, err := discovery.Matcher(sd, kind.Role); err != nil {
			return nil, fmt.Errorf("kubernetes discovery: %w", err)
		}
	}
	scopes := discovery.Namespaces(sd, own)
	if kinds[0].ClusterScoped {
		scopes = nil
	}
	s := &Subscription{cluster: c, wake: wake, all: map[int]bool{}, changed: map[change]struct{}{}, confined: scopes != nil}
	views := c.viewsOf(kinds[0], scopes)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, namespace := range slices.Sorted(maps.Keys(views)) {
		if !c.watches(kinds[0], namespace) {
			s.gaps = append(s.gaps, targets.Gap{State: targets.Unknown,
				Message: fmt.Sprintf("targets of role %s are not known: %s are not watched", sd.Role, place{kind: kinds[0], namespace: namespace})})
			continue
		}
		l, err := c.acquire(sd, namespace, kinds, once)
		if err != nil {
			return nil, fmt.Errorf("kubernetes discovery: %w", err) // unreachable after the check above
		}
		s.leases, s.scopes = append(s.leases, l), append(s.scopes, views[namespace])
	}
	for i, l := range s.leases {
		l.view.subscribe(s, i, s.scopes[i])
	}
	return s, nil
}

// viewsOf returns the namespaces of the views that a discovery needs, "" for all, each with the
// namespaces that the discovery reads in it. scopes are the namespaces of the discovery; nil for
// all.
func (c *Cluster) viewsOf(kind discovery.Kind, scopes []string) map[string][]string {
	switch {
	case scopes == nil:
		return map[string][]string{"": {""}}
	case c.Namespaces == nil || kind.ClusterScoped:
		return map[string][]string{"": scopes}
	}
	out := map[string][]string{}
	for _, n := range scopes {
		out[n] = []string{n}
	}
	return out
}

// watches reports whether a kind may be listed in a namespace, "" for all.
func (c *Cluster) watches(kind discovery.Kind, namespace string) bool {
	return c.Namespaces == nil || kind.ClusterScoped || slices.Contains(c.Namespaces, namespace)
}

// acquire returns the view of a discovery in a namespace, "" for all.
func (c *Cluster) acquire(sd *targets.KubernetesSD, namespace string, kinds []discovery.Kind, once bool) (*lease, error) {
	older := discovery.OlderThan(sd)
	key := fmt.Sprintf("%q %q %+v %+v %q", sd.Role, namespace, sd.AttachMetadata, sd.Selectors, older.Key())
	if l := c.leases[key]; l != nil {
		if l.timer != nil {
			l.timer.Stop()
			l.timer = nil
			c.unspare(l)
		}
		l.once = l.once && once
		l.users++
		return l, nil
	}
	var sources []*source
	for _, kind := range kinds {
		sources = append(sources, c.source(place{kind, kind.In(namespace), older.Key()}, older))
	}
	v, err := newView(sd, sources, &c.table)
	if err != nil {
		c.leave(sources)
		return nil, err
	}
	l := &lease{view: v, key: key, users: 1, once: once}
	if c.leases == nil {
		c.leases = map[string]*lease{}
	}
	c.leases[key] = l
	return l, nil
}

// source returns the informer of a place.
func (c *Cluster) source(p place, older discovery.Older) *source {
	s := c.sources[p]
	if s == nil {
		s = newSource(p, older, c.Lists(p.kind, p.namespace))
		if c.sources == nil {
			c.sources = map[place]*source{}
		}
		c.sources[p] = s
	}
	s.users++
	return s
}

// leave stops informers that no view uses.
func (c *Cluster) leave(sources []*source) {
	for _, s := range sources {
		if s.users--; s.users == 0 {
			delete(c.sources, s.place)
			s.stop()
		}
	}
}

func (c *Cluster) release(l *lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.releaseLocked(l)
}

// releaseLocked closes a view after it has been unused for a while.
func (c *Cluster) releaseLocked(l *lease) {
	if l.users--; l.users > 0 {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(idle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.timer == timer {
			c.end(l)
		}
	})
	l.timer = timer
	if !l.once {
		return
	}
	if c.spare = append(c.spare, l); len(c.spare) > mostSpare {
		c.spare[0].timer.Stop()
		c.end(c.spare[0])
	}
}

// unspare removes a view from the spare ones.
func (c *Cluster) unspare(l *lease) {
	c.spare = slices.DeleteFunc(c.spare, func(s *lease) bool { return s == l })
}

// end closes a view and the informers that only it used.
func (c *Cluster) end(l *lease) {
	delete(c.leases, l.key)
	c.unspare(l)
	l.view.close()
	c.leave(l.view.sources)
}

// Size returns the current number of informers and of target groups.
func (c *Cluster) Size() (informers, groups int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.leases {
		groups += l.view.count([]string{""})
	}
	return len(c.sources), groups
}

// TooLarge returns the objects without targets, because those would have too many labels, see [discovery.Left]:
// "endpointslices demo/web", sorted.
func (c *Cluster) TooLarge() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.leases {
		l.view.mu.RLock()
		for key := range l.view.left {
			out = append(out, l.view.sources[0].kind.Resource.Resource+" "+key)
		}
		l.view.mu.RUnlock()
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Close closes everything without subscriptions immediately and returns when its informers have
// stopped.
func (c *Cluster) Close() {
	for _, s := range c.endUnused() {
		<-s.done
	}
}

// endUnused closes unused views and returns the informers that stop.
func (c *Cluster) endUnused() []*source {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Collect(maps.Values(c.sources))
	for _, l := range slices.Collect(maps.Values(c.leases)) {
		if l.users == 0 {
			l.timer.Stop()
			c.end(l)
		}
	}
	return slices.DeleteFunc(all, func(s *source) bool { return s.users > 0 })
}

package watch

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/compact"
)

// view has the groups of one role with the same metadata and selectors, in one namespace or in all
// that are watched at once.
type view struct {
	role    string
	older   discovery.Older
	sources []*source
	table   *compact.Table
	filters map[string]*filter // by role
	stop    context.CancelFunc
	running sync.WaitGroup

	synced atomic.Bool
	mu     sync.RWMutex
	groups map[string]map[string]entry // by namespace and source
	subs   map[string]map[*Subscription]int
	left   map[string]bool // keys of objects that are too large for a group
}

// entry is the group of an object. Discoveries in single namespaces use confined if the object
// refers to pods of other namespaces.
type entry struct {
	group    *compact.Group
	confined *compact.Group // nil: equal to group
}

// newView starts a builder on sources, one for each kind that the discovery reads.
//
// Errors: selectors that cannot be applied.
func newView(sd *targets.KubernetesSD, sources []*source, table *compact.Table) (*view, error) {
	v := &view{role: sd.Role, older: discovery.OlderThan(sd), sources: sources, table: table, filters: map[string]*filter{},
		groups: map[string]map[string]entry{}, subs: map[string]map[*Subscription]int{}}
	for _, s := range sources {
		matches, err := discovery.Matcher(sd, s.kind.Role)
		if err != nil {
			return nil, err
		}
		v.filters[s.kind.Role] = &filter{SharedIndexInformer: s.informer, matches: matches}
	}
	builder := discovery.NewBuilder(sd.Role, v.informer, v.leave)
	ctx, stop := context.WithCancel(context.Background())
	v.stop = stop
	ch := make(chan []*targetgroup.Group)
	v.running.Go(func() { builder.Run(ctx, ch) })
	v.running.Go(func() { v.askForEnd(ctx) })
	v.running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case groups := <-ch:
				v.put(groups[0]) // builders send one at a time
			}
		}
	})
	return v, nil
}

// informer implements discovery.Informers.
func (v *view) informer(role string) cache.SharedIndexInformer {
	if f := v.filters[role]; f != nil {
		return f
	}
	return nil
}

// leave implements discovery.Left.
func (v *view) leave(key string, out bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case !out:
		delete(v.left, key)
	case v.left == nil:
		v.left = map[string]bool{key: true}
	default:
		v.left[key] = true
	}
}

// askForEnd triggers the group of [discovery.End] when all informers have synced, so that it
// follows the groups of all listed objects.
func (v *view) askForEnd(ctx context.Context) {
	var done []cache.DoneChecker
	for _, f := range v.filters {
		done = append(done, f.SharedIndexInformer.HasSyncedChecker())
		for _, h := range f.handles {
			done = append(done, h.HasSyncedChecker())
		}
	}
	if cache.WaitFor(ctx, "", done...) {
		v.filters[v.role].handlers[0].OnDelete(discovery.End(v.role))
	}
}

// close ends the view. It must have no subscriptions.
func (v *view) close() {
	for _, f := range v.filters {
		f.remove()
	}
	v.stop()
	v.running.Wait()
	for _, in := range v.groups {
		for _, e := range in {
			v.drop(e)
		}
	}
}

// put stores a group that the builder has rebuilt and wakes the affected subscriptions.
func (v *view) put(group *targetgroup.Group) {
	if discovery.IsEnd(group.Source) {
		v.setSynced()
		return
	}
	_, key, _ := strings.Cut(group.Source, "/")
	namespace := namespaceOf(group.Source)
	var next entry
	gone := len(group.Targets) == 0
	foreign := v.filters[v.role].readForeign(key, gone)
	if !gone {
		v.older.Unlabel(group)
		next.group = v.table.Put(group)
	}
	if !gone && foreign != nil {
		confined := discovery.Confined(v.role, v.informer, foreign)
		v.older.Unlabel(confined)
		next.confined = v.table.Put(confined)
	}
	for _, sub := range v.replace(namespace, group.Source, next) {
		sub.wake()
	}
}

// namespaceOf returns the namespace of the object of a group; "" for cluster-scoped kinds.
func namespaceOf(source string) string {
	_, key, _ := strings.Cut(source, "/")
	namespace, _, namespaced := strings.Cut(key, "/")
	if !namespaced {
		return ""
	}
	return namespace
}

// replace replaces a group and returns the affected subscriptions.
func (v *view) replace(namespace, source string, next entry) []*Subscription {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.groups[namespace][source]
	if v.table.Equal(before.group, next.group) && v.table.Equal(before.confined, next.confined) {
		v.drop(next)
		return nil
	}
	switch {
	case next.group != nil && v.groups[namespace] == nil:
		v.groups[namespace] = map[string]entry{source: next}
	case next.group != nil:
		v.groups[namespace][source] = next
	default:
		if delete(v.groups[namespace], source); len(v.groups[namespace]) == 0 {
			delete(v.groups, namespace)
		}
	}
	v.drop(before)
	if !v.synced.Load() {
		return nil // all groups are marked when the view is
	}
	var out []*Subscription
	for _, scope := range slices.Compact([]string{"", namespace}) {
		for sub, index := range v.subs[scope] {
			sub.mark(change{index, source})
			out = append(out, sub)
		}
	}
	return out
}

func (v *view) drop(e entry) {
	v.table.Drop(e.group)
	v.table.Drop(e.confined)
}

// setSynced marks the groups as complete, and for all subscriptions as changed, and wakes these. Before, groups are
// not marked one by one: that would be each of them for each subscription.
func (v *view) setSynced() {
	all := map[*Subscription]int{}
	v.mu.Lock()
	for _, subs := range v.subs {
		maps.Copy(all, subs)
	}
	for sub, index := range all {
		sub.markAll(index)
	}
	v.synced.Store(true) // after the marks: it is read without the mutex, before marked groups are taken
	v.mu.Unlock()
	for sub := range all {
		sub.wake()
	}
}

// subscribe adds a subscription to namespaces, "" for all, and marks the existing groups.
func (v *view) subscribe(sub *Subscription, index int, scopes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, scope := range scopes {
		if v.subs[scope] == nil {
			v.subs[scope] = map[*Subscription]int{}
		}
		v.subs[scope][sub] = index
	}
	if v.synced.Load() {
		sub.markAll(index)
	}
}

// all returns the sources of the groups in namespaces, "" for all.
func (v *view) all(scopes []string) (out []string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, scope := range scopes {
		if scope != "" {
			out = slices.AppendSeq(out, maps.Keys(v.groups[scope]))
			continue
		}
		for _, in := range v.groups {
			out = slices.AppendSeq(out, maps.Keys(in))
		}
	}
	return out
}

// of returns the sources of the groups of the objects of a namespace.
func (v *view) of(namespace string) []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Collect(maps.Keys(v.groups[namespace]))
}

// unsubscribe reverts subscribe.
func (v *view) unsubscribe(sub *Subscription, scopes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, scope := range scopes {
		if delete(v.subs[scope], sub); len(v.subs[scope]) == 0 {
			delete(v.subs, scope)
		}
	}
}

// read returns a group; nil if it does not exist.
func (v *view) read(source string, confined bool) *targetgroup.Group {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.table.Expand(v.find(source, confined))
}

// outline reads some labels of a group. It returns false if the group does not exist.
func (v *view) outline(source string, confined bool, names []model.LabelName, o *targets.Outline) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.table.Outline(v.find(source, confined), names, o)
}

// find returns a group; nil if it does not exist. v.mu must be held.
func (v *view) find(source string, confined bool) *compact.Group {
	e := v.groups[namespaceOf(source)][source]
	if confined && e.confined != nil {
		return e.confined
	}
	return e.group
}

// count returns the number of groups in namespaces, "" for all.
func (v *view) count(scopes []string) (n int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, scope := range scopes {
		if scope != "" {
			n += len(v.groups[scope])
			continue
		}
		for _, in := range v.groups {
			n += len(in)
		}
	}
	return n
}

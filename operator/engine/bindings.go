package engine

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

// bindingsQueue writes the results of reconciliations into the statuses of the selected objects, and
// removes them on deletion of a workload. It works asynchronously so that many writes do not delay a
// configuration, that of another workload included.
type bindingsQueue struct {
	queue *queue.Queue

	// skipList are the objects of each workload whose status the API server has refused in this round
	// over them, with one of the errors. Only the worker uses it.
	skipped map[types.NamespacedName]*skipList
	// releases are the attempts to remove deleted workloads from the statuses. Only the worker uses it.
	releases map[types.NamespacedName]*release
	// due is when what has been written of each workload would be at bindRate. Only the worker uses it.
	due map[types.NamespacedName]time.Time

	mu      sync.Mutex
	results map[types.NamespacedName]*boundResults // of the last reconciliation, until all are written
	// handovers are the workloads that other operators have taken over, until they are removed from the statuses.
	handovers map[types.NamespacedName]*handover

	running atomic.Bool // the worker has begun
}

// boundResults holds the results of a reconciliation, by kind. Nil selects nothing.
type boundResults struct{ byKind map[string][]boundResult }

func (r *boundResults) of(kind string) []boundResult {
	if r == nil {
		return nil
	}
	return r.byKind[kind]
}

// skipList are objects that the rest of a round leaves out.
type skipList struct {
	objects map[catalog.Ref]bool
	places  map[bindings.Place]bool // where all objects are refused
	err     error                   // of one of them, preferably of a place
}

func newSkipList() *skipList {
	return &skipList{objects: map[catalog.Ref]bool{}, places: map[bindings.Place]bool{}}
}

func (s *skipList) add(r bindings.RefusedChange) {
	s.objects[refOf(r.Change.Object)] = true
	if r.Place {
		s.places[bindings.PlaceOf(r.Change)] = true
	}
	if r.Place || s.err == nil {
		s.err = r.Err
	}
}

func (s *skipList) has(c bindings.Change) bool {
	return s.objects[refOf(c.Object)] || s.places[bindings.PlaceOf(c)]
}

// boundResult is a result without the object and its compiled form: writing may take minutes, during
// which objects change or are deleted.
type boundResult struct {
	namespace, name string
	uid             types.UID
	generation      int64
	err             error // nil: accepted
}

func boundResultOf(v fragments.Result) boundResult {
	out := boundResult{namespace: v.Object.GetNamespace(), name: v.Object.GetName(), uid: v.Object.GetUID(), generation: v.Object.GetGeneration()}
	if v.Err != nil {
		out.err = rejection(unique.Make(excerpt.Of(v.Err.Error(), budget.MessageBytes)))
	}
	return out
}

// rejection is the error of a rejected object. The workloads that reject it share the text.
type rejection unique.Handle[string]

// Error implements error.
func (r rejection) Error() string { return unique.Handle[string](r).Value() }

// compare compares names in the sort order of objects.
func (r boundResult) compare(o metav1.Object) int {
	return informer.CompareNames(r.namespace, r.name, o.GetNamespace(), o.GetName())
}

const (
	firstBindRetry = 200 * time.Millisecond
	lastBindRetry  = 5 * time.Minute
	// bindDelay merges reconciliations in quick succession into one write.
	bindDelay = 100 * time.Millisecond
	// bindTurn is the maximum number of objects that are written before the next workload has its
	// turn, so that one that selects thousands does not keep others waiting.
	bindTurn = 200
	// bindRate is the size in bytes of the objects that are written each second for one workload, after bindCredit: a user
	// who changes a Secret to which many large objects refer would fill etcd.
	bindRate   = 1 << 20
	bindCredit = 30 * time.Second
)

func newBindingsQueue() *bindingsQueue {
	return &bindingsQueue{
		results:   map[types.NamespacedName]*boundResults{},
		handovers: map[types.NamespacedName]*handover{},
		skipped:   map[types.NamespacedName]*skipList{},
		releases:  map[types.NamespacedName]*release{},
		due:       map[types.NamespacedName]time.Time{},
		queue:     queue.New(queue.Options{First: firstBindRetry, Last: lastBindRetry}),
	}
}

// bind queues the results of a reconciliation for writing.
func (c *Controller) bind(key types.NamespacedName, results map[string][]boundResult) {
	if c.bindings == nil {
		return
	}
	c.bindings.mu.Lock()
	c.bindings.results[key] = &boundResults{results}
	c.bindings.mu.Unlock()
	c.bindings.queue.AddAfter(key, bindDelay)
}

// runBindings writes until the context ends.
func (c *Controller) runBindings(ctx context.Context) {
	c.bindings.running.Store(true)
	c.bindings.queue.Run(ctx, 1, func(ctx context.Context, key types.NamespacedName) {
		if wait := time.Until(c.bindings.due[key].Add(-bindCredit)); wait > 0 {
			c.bindings.queue.AddAfter(key, wait)
			return
		}
		more, err := c.writeBindings(ctx, key)
		switch {
		case err != nil && ctx.Err() == nil:
			c.log.Warn("failed to update the status of monitors and rules, retrying", "key", key.String(), "err", err)
			c.bindings.queue.RetryWithin(key, -c.bindingsLeft(key), longest(err))
		case more:
			c.bindings.queue.Add(key) // behind the other workloads
		default:
			c.bindings.queue.Forget(key)
		}
	})
}

// bindingsLeft returns the number of changes of a workload that are not written.
func (c *Controller) bindingsLeft(key types.NamespacedName) int {
	c.bindings.mu.Lock()
	results := c.bindings.results[key]
	c.bindings.mu.Unlock()
	return len(c.bindings.still(key, c.bindingChanges(key, results)))
}

// writeBindings writes the next changes of a workload and reports whether there are more. A workload
// that is being deleted or handed over loses its finalizer after the last one.
func (c *Controller) writeBindings(ctx context.Context, key types.NamespacedName) (more bool, err error) {
	w, exists := c.stores.workloads.get(key.Namespace, key.Name)
	managed := exists && c.manages(w)
	handed := c.bindings.handed(key, managed)
	leaves := handed != nil || managed && w.GetDeletionTimestamp() != nil
	c.bindings.mu.Lock()
	if !managed || leaves {
		delete(c.bindings.results, key)
	}
	results := c.bindings.results[key]
	c.bindings.mu.Unlock()
	if leaves {
		c.bindings.beginRelease(key)
	} else {
		delete(c.bindings.releases, key)
	}
	if results == nil && !leaves {
		delete(c.bindings.skipped, key)
		if !managed {
			delete(c.bindings.due, key)
		}
		return false, nil
	}
	more, err = c.bindings.turn(ctx, c.stores.bindings, key, c.bindings.still(key, c.bindingChanges(key, results)))
	switch {
	case more || ctx.Err() != nil:
		return more, err
	case !leaves && err == nil:
		c.bindings.written(key, results)
		return false, nil
	case !leaves:
		return false, err
	case err != nil && !c.bindings.givesUp(key, c.bindingsLeft(key), err):
		return false, err
	case err != nil:
		c.log.Warn("deleted workload stays in the status of an object", "key", key.String(), "handed_over", handed != nil, "err", err)
	}
	if handed != nil {
		err = c.endHandover(ctx, key, handed)
	} else {
		err = c.removeFinalizer(ctx, w)
	}
	if err == nil {
		delete(c.bindings.releases, key)
	}
	return false, err
}

// written drops the results of a workload unless there are later ones.
func (q *bindingsQueue) written(key types.NamespacedName, of *boundResults) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.results[key] == of {
		delete(q.results, key)
	}
}

// turn writes the next changes of a workload and reports whether there are more. Objects that the
// API server refuses do not keep back the others: they are left out until the round has reached its
// end, where one of the reasons is the error.
func (q *bindingsQueue) turn(ctx context.Context, w *bindings.Writer, key types.NamespacedName, changes []bindings.Change) (more bool, err error) {
	round := q.skipped[key]
	if round == nil {
		round = newSkipList()
	}
	changes = slices.DeleteFunc(changes, round.has)
	n := min(len(changes), bindTurn)
	left, bytes, err := w.Do(ctx, changes[:n])
	q.wrote(key, bytes)
	for _, r := range left {
		round.add(r)
	}
	if err == nil && (n < len(changes) || bytes > bindings.TurnBytes) {
		q.skipped[key] = round
		return true, nil
	}
	delete(q.skipped, key)
	return false, cmp.Or(err, round.err)
}

// wrote records the size of the objects that were written for a workload.
func (q *bindingsQueue) wrote(key types.NamespacedName, bytes int) {
	from := time.Now()
	if due := q.due[key]; due.After(from) {
		from = due
	}
	q.due[key] = from.Add(time.Duration(bytes) * time.Second / bindRate)
}

func refOf(o bindings.Object) catalog.Ref {
	return catalog.Ref{Kind: o.Row.Kind, Namespace: o.Namespace, Name: o.Name}
}

// bindingChanges compares all statuses with the results. Bindings precede removals because users
// are more likely to wait for bindings.
func (c *Controller) bindingChanges(key types.NamespacedName, results *boundResults) []bindings.Change {
	b := bound{
		writer: c.stores.bindings, owner: bindings.Workload{Resource: c.kind.Resource, Namespace: key.Namespace, Name: key.Name},
		now: metav1.Now().Rfc3339Copy(),
	}
	for _, s := range c.kind.Selects {
		if store := c.stores.config(s.Row); store != nil {
			b.compare(s.Row, store.Sorted(), results.of(s.Kind))
		}
	}
	return inTurns(append(b.set, b.removed...))
}

// inTurns returns the changes in an order in which namespaces take turns, so that objects that change all the
// time do not delay the statuses of objects in other namespaces.
func inTurns(changes []bindings.Change) []bindings.Change {
	nth := map[string]int{} // by namespace
	turn := make([]int, len(changes))
	for i := range changes {
		namespace := changes[i].Object.Namespace
		turn[i] = nth[namespace]
		nth[namespace]++
	}
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	out := make([]bindings.Change, len(changes))
	for i, at := range order {
		out[i] = changes[at]
	}
	return out
}

// bound collects the changes of one workload.
type bound struct {
	writer       *bindings.Writer
	owner        bindings.Workload
	now          metav1.Time
	set, removed []bindings.Change
}

// compare compares the objects of one kind with the results. Both are sorted, so a single pass suffices.
func (b *bound) compare(row *catalog.Row, all iter.Seq[catalog.Object], results []boundResult) {
	for obj := range all {
		for len(results) > 0 && results[0].compare(obj) < 0 {
			results = results[1:] // the object was deleted
		}
		selected := len(results) > 0 && results[0].compare(obj) == 0
		now := b.writer.Current(bindings.Object{
			Row: row, Namespace: obj.GetNamespace(), Name: obj.GetName(),
			Version: obj.GetResourceVersion(), Generation: obj.GetGeneration(),
			Bindings: obj.(v1.ConfigResource).GetConfigStatus().Bindings, Unread: v1.StatusLeftOut(obj),
		})
		if !selected {
			if change, needed := bindings.Release(now, b.owner); needed {
				b.removed = append(b.removed, change)
			}
			continue
		}
		v := results[0]
		if v.uid != obj.GetUID() || v.generation != obj.GetGeneration() {
			continue // superseded by the next reconciliation
		}
		if change, needed := bindings.Bind(now, b.owner, v.err, b.now); needed {
			b.set = append(b.set, change)
		}
	}
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// reconcile runs one reconciliation of a workload.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (Outcome, error) {
	cached, ok := c.stores.workloads.get(key.Namespace, key.Name)
	if !ok || !c.manages(cached) {
		c.forget(key) // its objects are garbage collected by owner reference
		if ok {
			return Outcome{}, nil
		}
		return Outcome{}, c.abandoned(ctx, key)
	}
	if cached.GetDeletionTimestamp() != nil {
		c.forget(key)
		return Outcome{}, c.release(ctx, cached)
	}
	if c.stores.namespaceTerminating(key.Namespace) {
		return Outcome{}, terminating(key.Namespace)
	}
	if err := v1.Undecodable(cached); err != nil {
		c.rest(key)
		return Outcome{}, undecodable(cached, err) // its written objects stay
	}
	c.timeline.Start(key)
	if err := c.hold(ctx, cached); err != nil {
		return Outcome{}, err
	}
	log := c.log.With("key", key.String())
	if cached.GetWorkloadFields().Paused {
		log.Info("paused, skipping")
		c.timeline.Drop(key)
		c.rest(key)
		return Outcome{}, nil
	}
	if err := c.unreadable(cached); err != nil {
		return Outcome{}, err
	}
	out, err := c.run(ctx, log, key, c.kind.Copy(cached))
	if _, invalid := errors.AsType[*InvalidError](err); invalid {
		c.timeline.Drop(key) // only another change helps
	}
	return out, err
}

// run gathers the objects that a workload selects, decides and writes.
func (c *Controller) run(ctx context.Context, log *slog.Logger, key types.NamespacedName, w v1.Workload) (out Outcome, err error) {
	state := c.remembered(key)
	state.running.Lock()
	defer state.running.Unlock()
	defer c.keepWithin(log, key, state, time.Now())
	state.reached.Store(0)
	defer func() {
		if err != nil {
			out.Reached = int(state.reached.Load())
		}
	}()
	live, err := c.live(ctx, w, state)
	if err != nil {
		return Outcome{}, err
	}
	in, err := c.gather(ctx, w, state, live)
	c.keepReferences(state, in, err)
	c.renewLater(log, key, &state.renewals)
	if err != nil {
		return Outcome{}, ownFault(err)
	}
	plan, err := in.Desired() // may leave out objects
	results := c.kind.results(in, c.bindings != nil)
	c.counts.set(key, results.counts)
	c.chargeSelection(key, results.counts)
	c.reportRejections(log, w, state, results.rejected)
	c.bind(key, results.bound)
	c.awaitPods(state, plan.AwaitsPods)
	if err != nil {
		return Outcome{}, ownFault(err)
	}
	plan.compareClaims(live.Claims)
	c.noteWritten(state, &plan, live)
	if plan.Withheld != nil {
		if err := c.writeWorkload(ctx, log, w, &plan, live.StatefulSets); err != nil {
			return Outcome{}, foreign(errors.Join(plan.Withheld, err))
		}
		return Outcome{}, ownFault(plan.Withheld)
	}
	if err := c.write(ctx, log, w, state, &plan, live.StatefulSets); apply.InTerminatingNamespace(err) {
		return Outcome{}, terminating(key.Namespace) // the cache is not up to date yet
	} else if err != nil {
		return Outcome{}, foreign(err)
	}
	if err := cmp.Or(c.ending(key, state, &plan), c.unseen(w)); err != nil {
		return Outcome{}, err
	}
	c.noteService(log, state, &plan)
	return c.kind.outcome(w, results, plan), nil
}

// Copy returns a mutable copy of a workload with its GroupVersionKind set, which cached objects lack.
func (k *Kind) Copy(w v1.Workload) v1.Workload {
	out := w.DeepCopyObject().(v1.Workload)
	out.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	return out
}

// gather collects the inputs of a workload. live are its existing objects.
func (c *Controller) gather(ctx context.Context, w v1.Workload, state *memory, live Live) (Inputs, error) {
	ask := c.newReferenceReader(ctx, state)
	cluster := c.reads(ask)
	cluster.Current = ask.current
	state.reads.Begin()
	cluster.Paced = ask.paced(ctx, &state.reads)
	state.renewals.begin(cluster.Now)
	cluster.Renew = func(namespace string, bytes int) bool { return state.renewals.take(namespace, bytes, cluster.Now) }
	cluster.Live = live
	cluster.Named = func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error) {
		return ask.named(ctx, row, name)
	}
	in, err := state.gatherer.Gather(w, cluster)
	state.renewals.postponed(state.reads.Postponed())
	c.keepNamed(ask)
	return in, err
}

// ownFault marks an error in the workload itself: only an event of the workload or of a referenced
// object helps, or another read of an unwatched reference.
func ownFault(err error) error {
	if assets.IsTemporary(err) {
		return err
	}
	return &InvalidError{Err: err}
}

// terminatingLook is the pause between reconciliations of a workload in a namespace that is being deleted.
const terminatingLook = time.Minute

// terminating returns the error of a workload that is skipped because nothing can be created in its
// namespace.
func terminating(namespace string) error {
	return &WaitError{
		For: terminatingLook, Condition: reasonTerminating, Reason: fmt.Sprintf("namespace %q is being deleted", namespace),
	}
}

// gathered is how far a reconciliation got that has read everything: further than any number of reads.
const gathered = 1 << 30

// write applies the plan: first the content, then the pods' annotations, then the workload. live
// are the StatefulSets as they were gathered.
func (c *Controller) write(ctx context.Context, log *slog.Logger, w v1.Workload, state *memory, plan *Plan, live map[string]*appsv1.StatefulSet) error {
	key := catalog.KeyOf(w)
	for _, warning := range plan.Warnings {
		log.Warn("configuration warning", "warning", warning.String())
	}
	began := time.Now()
	state.reached.Store(gathered)
	content, err := c.writer.Do(ctx, plan.Content)
	state.reached.Add(int64(len(content)))
	c.notePace(state, w.GetGeneration(), content)
	logChanges(log, content)
	contested, err := apply.Contested(err)
	if err != nil {
		return err
	}
	shape, pods := c.kind.Shape(w), c.podsOf(key)
	c.noteContent(key, plan, changesAny(content), pods)
	c.mu.Lock()
	state.delivered = state.delivered.next(plan, shape.Reloaders, began, changesAny(content))
	c.mu.Unlock()
	for _, pod := range pods {
		if !delivery.Carries(pod.Annotations[delivery.Annotation], plan.Hash) {
			c.deliver(key, pod)
		}
		c.watchPod(key, pod)
	}
	if err := c.check(ctx, w, shape, &state.checks); err != nil {
		return errors.Join(err, c.contested(log, w, contested))
	}
	if slices.ContainsFunc(contested, func(conflict apply.Conflict) bool { return conflict.Gone }) {
		return c.contested(log, w, contested) // a rollout would replace pods by ones that cannot start
	}
	if !c.remains(w) {
		return c.contested(log, w, contested) // the StatefulSet may be gone already: another one would start pods
	}
	return c.writeWorkload(ctx, log, w, plan, live, contested...)
}

// remains reports whether a workload was neither deleted nor replaced since it was read.
func (c *Controller) remains(w v1.Workload) bool {
	now, ok := c.stores.workloads.get(w.GetNamespace(), w.GetName())
	return ok && now.GetUID() == w.GetUID() && now.GetDeletionTimestamp() == nil
}

// writeWorkload writes the objects that run the pods, after expanding the claims that must grow
// first. contested are conflicts from earlier steps of the reconciliation.
func (c *Controller) writeWorkload(ctx context.Context, log *slog.Logger, w v1.Workload, plan *Plan, live map[string]*appsv1.StatefulSet, contested ...apply.Conflict) error {
	steps, notGrown := c.grow(ctx, log, w, plan, live)
	done, err := c.writer.Do(ctx, steps)
	c.remembered(catalog.KeyOf(w)).reached.Add(int64(len(done)))
	logChanges(log, done)
	more, err := apply.Contested(err)
	wait := c.contested(log, w, append(contested, more...))
	if err := errors.Join(err, notGrown, c.settle(ctx, log, w)); err != nil {
		return errors.Join(err, wait)
	}
	return wait
}

// contested logs each new conflict once and returns the error that schedules the next comparison.
func (c *Controller) contested(log *slog.Logger, w v1.Workload, all []apply.Conflict) error {
	if len(all) == 0 {
		return nil
	}
	for _, conflict := range all {
		if !conflict.New {
			continue
		}
		log.Warn("write conflict: another client keeps reverting an object, overwriting it with backoff",
			"kind", conflict.Kind, "name", conflict.Name, "by", conflict.By, "since", conflict.Since)
		if c.recorder != nil {
			c.recorder.Eventf(w, nil, corev1.EventTypeWarning, reasonWriteConflict, "Reconciling", "%s", excerpt.Of(conflict.String(), budget.EventBytes))
		}
	}
	err := &apply.ConflictError{Conflicts: all}
	return &WaitError{For: err.Wait(), Reason: err.Error(), Condition: reasonWriteConflict}
}

func logChanges(log *slog.Logger, done []apply.Done) {
	for _, d := range done {
		if d.Change != apply.Unchanged {
			log.Info("wrote object", "kind", apply.KindOf(d.Object), "name", d.Object.GetName(), "change", string(d.Change))
		}
	}
}

func changesAny(done []apply.Done) bool {
	return slices.ContainsFunc(done, func(d apply.Done) bool { return d.Change != apply.Unchanged })
}

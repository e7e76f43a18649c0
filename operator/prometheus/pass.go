package prometheus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/fragment"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
)

// ownerState is the memory of one owner between reconciliations. Only one of them
// runs at a time per owner; fields that events read are guarded by Controller.mu.
type ownerState struct {
	documents *Documents
	monitors  recall[*CompiledMonitor]
	ruleFiles recall[*CompiledRule]
	frame     frameCache
	checks    checkCache
	reported  map[string]string // rejected object → reason already told
	held      types.UID         // the owner that got the finalizer last, until the cache shows it

	references map[assets.Ref]bool // guarded
	delivered  delivered           // guarded
	awaits     bool                // guarded: the next reconciliation can do more when pods have changed
}

// frameCache keeps the owner's part of the document while nothing it depends on changed.
type frameCache struct {
	key   string
	frame promconfig.Frame
}

func (c *Controller) state(key types.NamespacedName) *ownerState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.owners[key]
	if s == nil {
		s = &ownerState{reported: map[string]string{}, documents: NewDocuments(&c.stores.chunks, 0)}
		c.owners[key] = s
	}
	return s
}

// forget drops everything that is remembered of an owner that is gone.
func (c *Controller) forget(key types.NamespacedName) {
	c.index.Remove(key)
	c.managed.Remove(key)
	fragments := fragment.Owner{Kind: c.kind.Name, Namespace: key.Namespace, Name: key.Name}
	c.compilers.Monitors.Release(fragments)
	c.compilers.Rules.Release(fragments)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.owners[key]; s != nil {
		s.documents.Close()
	}
	delete(c.owners, key)
}

func (c *Controller) forgetFragment(kind string, key types.NamespacedName) {
	if kind == v1.PrometheusRuleKind {
		c.compilers.Rules.Forget(kind, key.Namespace, key.Name)
		return
	}
	c.compilers.Monitors.Forget(kind, key.Namespace, key.Name)
}

// reconcile runs one reconciliation of an owner.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (controller.Outcome, error) {
	cached, ok := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok || !c.mine(cached) {
		c.forget(key) // owner references clean up
		if ok {
			return controller.Outcome{}, nil
		}
		return controller.Outcome{}, c.abandoned(ctx, key)
	}
	if cached.GetDeletionTimestamp() != nil {
		c.forget(key)
		return controller.Outcome{}, c.release(ctx, cached)
	}
	if c.stores.namespaceTerminating(key.Namespace) {
		return controller.Outcome{}, terminating(key.Namespace)
	}
	if err := c.hold(ctx, cached); err != nil {
		return controller.Outcome{}, err
	}
	log := c.log.With("key", key.String())
	if cached.Fields.Paused {
		log.Info("paused, skipping")
		return controller.Outcome{}, nil
	}
	o := cached.copied()
	state := c.state(key)
	if o.Server != nil {
		if err := c.check(ctx, o, &state.checks); err != nil {
			return controller.Outcome{}, err
		}
	}
	in, err := c.gather(ctx, o, state)
	c.remember(state, in, err)
	if err != nil {
		return controller.Outcome{}, ownFault(err)
	}
	c.managed.Set(key, in.Counts)
	c.tell(log, o, state, in)
	c.bind(key, in)
	plan, err := Desired(o, in, c.opts.Workload, state.documents)
	if tooLarge, ok := errors.AsType[*TooLargeError](err); ok {
		c.awaitPods(state, tooLarge.NotYet != "")
		return controller.Outcome{}, errors.Join(err, c.writeWorkload(ctx, log, o, &plan, in.StatefulSets))
	}
	c.awaitPods(state, false)
	if err != nil {
		return controller.Outcome{}, ownFault(err)
	}
	if err := c.write(ctx, log, o, state, plan, in.StatefulSets); apply.InTerminatingNamespace(err) {
		return controller.Outcome{}, terminating(key.Namespace) // the cache does not know yet
	} else if err != nil {
		return controller.Outcome{}, err
	}
	return outcome(o, in, plan, c.opts.unmanaged(o)), nil
}

// gather collects what an owner is made of, with what is kept from its last pass.
func (c *Controller) gather(ctx context.Context, o Owner, state *ownerState) (Inputs, error) {
	ask := c.asking(ctx, state)
	g := gatherer{
		cluster: c.cluster(ask), current: ask.current, capabilities: c.opts.Capabilities, compilers: c.compilers,
		monitors: &state.monitors, ruleFiles: &state.ruleFiles,
		unmanaged: c.opts.unmanaged, workload: c.opts.Workload,
		frame: func(o Owner, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error) {
			return c.frame(ask, &state.frame, o, s, ruleConfigMaps)
		},
	}
	return g.Gather(o, time.Now())
}

// ownFault marks an error of the owner's own: only an event about the owner or what
// it refers to helps, or another read of a reference that is not watched.
func ownFault(err error) error {
	if assets.IsTemporary(err) {
		return err
	}
	return &controller.InvalidError{Err: err}
}

// terminatingLook is the pause between reconciliations of an owner in a namespace
// that is being deleted.
const terminatingLook = time.Minute

// terminating says that an owner is left alone: nothing can be recreated in its
// namespace.
func terminating(namespace string) error {
	return &controller.WaitError{
		For: terminatingLook, Condition: reasonTerminating, Reason: fmt.Sprintf("namespace %q is being deleted", namespace),
	}
}

// write brings the cluster to the plan: the configuration first, then the pods'
// annotations, then the workload. live are the StatefulSets as they were gathered.
func (c *Controller) write(ctx context.Context, log *slog.Logger, o Owner, state *ownerState, plan Plan, live map[string]*appsv1.StatefulSet) error {
	key := o.Key()
	for _, w := range plan.Warnings {
		log.Warn("configuration warning", "warning", w)
	}
	began := time.Now()
	content, err := c.writer.Do(ctx, plan.Content)
	logChanges(log, content)
	contested, err := apply.Contested(err)
	if err != nil {
		return err
	}
	c.mu.Lock()
	state.delivered = state.delivered.next(plan, began, changesAny(content))
	c.mu.Unlock()
	for _, pod := range c.podsOf(key) {
		if !delivery.Carries(pod.Annotations[delivery.Annotation], plan.Hash) {
			c.deliver(key, pod)
		}
		c.watchPod(key, pod)
	}
	if o.Agent != nil && !o.usesDaemonSet() {
		if err := c.check(ctx, o, &state.checks); err != nil {
			return errors.Join(err, c.contested(log, o, contested))
		}
	}
	return c.writeWorkload(ctx, log, o, &plan, live, contested...)
}

// writeWorkload writes what runs the pods, after the claims that must grow before.
// contested are conflicts that came up earlier in the reconciliation.
func (c *Controller) writeWorkload(ctx context.Context, log *slog.Logger, o Owner, plan *Plan, live map[string]*appsv1.StatefulSet, contested ...apply.Conflict) error {
	notGrown := c.grow(ctx, log, o, plan, live)
	done, err := c.writer.Do(ctx, plan.Workload)
	logChanges(log, done)
	more, err := apply.Contested(err)
	wait := c.contested(log, o, append(contested, more...))
	if err := errors.Join(err, notGrown, c.settle(ctx, log, o)); err != nil {
		return errors.Join(err, wait)
	}
	return wait
}

// contested logs, once, who keeps reverting objects, and schedules the next comparison.
func (c *Controller) contested(log *slog.Logger, o Owner, all []apply.Conflict) error {
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
			c.recorder.Eventf(o.Object, nil, corev1.EventTypeWarning, reasonWriteConflict, "Reconciling", "%s", excerpt.Of(conflict.String(), maxReasonBytes))
		}
	}
	err := &apply.ConflictError{Conflicts: all}
	return &controller.WaitError{For: err.Wait(), Reason: err.Error(), Condition: reasonWriteConflict}
}

// awaitPods says whether changes of its pods wake the owner.
func (c *Controller) awaitPods(state *ownerState, awaits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state.awaits = awaits
}

// awaitsPods reports whether an owner waits for its pods to change.
func (c *Controller) awaitsPods(key types.NamespacedName) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.owners[key]
	return s != nil && s.awaits
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

// frame compiles the owner's part of the document unless the kept one stands.
func (c *Controller) frame(ask asking, kept *frameCache, o Owner, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error) {
	key := fmt.Sprintf("%s/%d/%s/%s", o.GetUID(), o.GetGeneration(), s.Key(), strings.Join(ruleConfigMaps, ","))
	if kept.key == key && ask.current(kept.frame.Deps) {
		return kept.frame, nil
	}
	f, err := o.frame(s, ruleConfigMaps, ask)
	*kept = frameCache{}
	if err == nil {
		*kept = frameCache{key: key, frame: f}
	}
	return f, err
}

// unmanaged reports whether an owner's configuration is left to the user. That of
// an agent never is.
func (opts Options) unmanaged(o Owner) bool {
	return o.Server != nil && promconfig.Unmanaged(o.Server, opts.DisableUnmanaged)
}

package engine

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// Options are the settings of one controller from the operator's flags.
type Options struct {
	ControllerID string
	// Instances are the namespaces of the workloads and their objects. InstanceSelector restricts
	// the workloads by label.
	Instances        informer.Namespaces
	InstanceSelector string
	// Labels are those that the operator adds to every generated object.
	Labels map[string]string
	// References are the namespaces of referenced Secrets and ConfigMaps in which changes are detected.
	References      informer.Namespaces
	InstantDelivery func() bool // patch pods so that changes arrive immediately
	StorageClasses  bool        // StorageClasses may be read
	// HoldImages are reloader images; a change of only these does not replace pods.
	HoldImages []string
	Repair     rollout.RepairPolicy
	// ConfigStatus enables recording in the statuses of selected objects which workloads select them.
	ConfigStatus bool
	Workers      int
	// Synced (optional) is called once the caches are complete.
	Synced func()
	// Lead (optional) blocks until this operator may reconcile and write. It returns false if the
	// context has ended. Until then the caches are kept current and changes are queued.
	Lead func(context.Context) bool
	// Changed (optional) is called after each change in the caches, possibly concurrently. It must
	// not block.
	Changed func(Change)
	// Settled (optional) is called once, when all workloads that existed at startup have been
	// reconciled and the queue is empty.
	Settled func()
}

// Controller reconciles the workloads of one kind.
type Controller struct {
	kind     *Kind
	opts     Options
	kube     kubernetes.Interface
	crds     *apply.Objects // the workloads
	recorder events.EventRecorder
	log      *slog.Logger

	sources  *Sources
	stores   *stores
	writer   *apply.Writer
	assets   *assets.Cache
	index    selection.Index
	counts   managedCounts
	metrics  *Metrics
	loop     *loop
	nudger   *delivery.Nudger
	watcher  *delivery.Watcher
	timeline *timeline.Log
	bindings *bindingsQueue // nil without Options.ConfigStatus
	sharings sharings       // the shared Services

	mu     sync.Mutex
	memory map[types.NamespacedName]*memory
	oldCRD bool // guarded: the last status could not be written because of the CRD
}

// New wires a controller to sources that other controllers may share. It sends no requests; Run does.
func New(kind *Kind, opts Options, sources *Sources, clients Clients, log *slog.Logger, reg promclient.Registerer) *Controller {
	log = log.With("component", kind.Controller)
	c := &Controller{
		kind: kind, opts: opts, sources: sources, kube: clients.Kube, crds: apply.NewObjects(clients.of(kind.Row), kind.Row), log: log,
		metrics: newMetrics(reg, kind.Label), memory: map[types.NamespacedName]*memory{},
	}
	if clients.Events != nil {
		c.recorder = clients.Events(kind.Controller)
	}
	if opts.ConfigStatus {
		c.bindings = newBindingsQueue()
	}
	c.stores = newStores(kind, clients, opts, sources, c.metrics)
	c.assets = c.stores.refs.cache
	c.timeline = timeline.New(c.reached)
	sources.join(c)
	kind.ChargeTo(sources.stored.Charge)
	c.metrics.Expect(kind.Kind, "StatefulSet")
	c.metrics.Register(&c.counts)
	c.metrics.Register(gaugeCollector{append([]Gauge{replicasGauge}, kind.Gauges...), c.stores.workloads})
	c.writer = c.newWriter()
	c.loop = newLoop(loopKind{
		Name: kind.Queue, Reconcile: c.reconcile, Status: c.report,
		Version: func(key types.NamespacedName) (Version, bool) {
			w, ok := c.stores.workloads.get(key.Namespace, key.Name)
			if !ok || !c.manages(w) {
				return Version{}, false
			}
			return Version{w.GetUID(), w.GetGeneration()}, true
		},
		Paced: c.paced,
		Idle:  sync.OnceFunc(c.settled),
	}, log, c.metrics)
	ofKind := promclient.WrapRegistererWith(promclient.Labels{"controller": kind.Label}, reg)
	c.watcher = delivery.NewWatcher(c.queryPod, c.podSettled, ofKind)
	c.nudger = delivery.New(c.annotate, c.watcher, log, ofKind)
	return c
}

func (c *Controller) newWriter() *apply.Writer {
	w := apply.NewWriter(c.kube, c.stores.caches())
	w.OnRecreate = func(r apply.Recreation) {
		c.metrics.Recreated.Inc()
		log := c.log.With("namespace", r.Namespace, "name", r.Name, "causes", r.Causes)
		if r.Misfit == "" {
			log.Info("recreating StatefulSet, keeping its pods")
			return
		}
		log.Warn("recreating StatefulSet, replacing its pods in turn", "reason", r.Misfit)
	}
	w.UsesService = c.usesService
	w.OnOverwrite = c.metrics.overwrote
	w.HoldImages = c.opts.HoldImages
	c.metrics.trackConflicts(w.Conflicts)
	return w
}

func (c *Controller) settled() {
	if c.opts.Settled != nil {
		c.opts.Settled()
	}
}

// Run starts the controller and runs it until the context ends.
//
// Errors: the caches could not be filled.
func (c *Controller) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	if c.kind.Ahead != nil {
		wg.Go(func() { c.compileAhead(ctx) })
	}
	defer wg.Wait()
	failed := func(err error) error {
		if ctx.Err() != nil {
			return nil // the stores stop with the operator and then reject handlers
		}
		return fmt.Errorf("%s: %w", c.kind.Label, err)
	}
	if err := c.stores.start(ctx, c.kind.Selects); err != nil {
		return failed(err)
	}
	// The index must contain the workloads before the first event of an object that they select.
	for w := range c.managed() {
		c.guarded("index "+catalog.KeyOf(w).String(), func() { c.index.Set(catalog.KeyOf(w), c.kind.indexRules(w)) })
		c.loop.enqueueStatus(catalog.KeyOf(w))
	}
	if err := c.handleEvents(); err != nil {
		return failed(err)
	}
	c.metrics.Ready()
	c.log.Info("caches synced", "objects", c.index.Len())
	if c.opts.Synced != nil {
		c.opts.Synced()
	}
	if c.opts.Lead != nil {
		c.opts.Lead(ctx) // without the lead, the context has ended, and the queues must end too
	}
	if c.index.Len() == 0 {
		c.settled() // no reconciliation will do so
	}

	outside := c.outsideVersion() // before the first reconciliation reads it
	wg.Go(func() { c.loop.Run(ctx, c.opts.Workers) })
	wg.Go(func() { c.nudger.Run(ctx, nudgeWorkers) })
	wg.Go(func() { c.watcher.Run(ctx, watchWorkers) })
	wg.Go(func() { c.poll(ctx, outside) })
	if c.bindings != nil {
		wg.Go(func() { c.runBindings(ctx) })
	}
	return nil
}

const (
	// nudgeWorkers is the number of concurrent pod patches.
	nudgeWorkers = 4
	// watchWorkers is the number of concurrent requests to pods, with as many additional ones to
	// unresponsive pods.
	watchWorkers = 32
	// pollPeriod is the pause between checks of deadlines and stale statuses.
	pollPeriod = time.Minute
)

// poll wakes workloads whose status does not show the wanted state, that have a shard whose
// deadline has passed, that have unwatched references, that select a kind whose permission was lost, or
// that read something besides the cluster, whose version at the start was outside: none of these triggers an event.
func (c *Controller) poll(ctx context.Context, outside string) {
	tick, references := time.NewTicker(pollPeriod), time.NewTicker(recheckPeriod)
	defer tick.Stop()
	defer references.Stop()
	refused := map[*catalog.Row][]string{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.wake(now)
			c.wakeRefused(refused)
		case <-references.C:
			c.recheck()
			outside = c.wakeReaders(outside)
		}
	}
}

// guarded logs a panic instead of propagating it: one bad object must not affect the others.
func (c *Controller) guarded(what string, do func()) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panicked", "action", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	do()
}

func (c *Controller) wake(now time.Time) {
	for w := range c.managed() {
		c.guarded("compare status of "+catalog.KeyOf(w).String(), func() {
			if !c.asWanted(w) {
				c.loop.enqueueStatus(catalog.KeyOf(w))
			}
		})
	}
	for s := range c.stores.statefulSets.All() {
		deadline, err := time.Parse(time.RFC3339, s.Annotations[wellknown.AnnotationDeletionDeadline])
		if err == nil && !deadline.IsZero() && deadline.Before(now) {
			for _, key := range c.workloadsOf(s) {
				c.loop.enqueue(key)
			}
		}
	}
}

// compileAhead runs expensive compilations as soon as their objects are cached, while the API
// server is still busy with the other lists. Errors are reported by the reconciliations that
// follow.
func (c *Controller) compileAhead(ctx context.Context) {
	store := c.stores.config(c.kind.Ahead.Of)
	if store == nil {
		return
	}
	for _, s := range []informer.Syncer{c.stores.namespaces, c.stores.workloads, store} {
		if s.Wait(ctx) != nil {
			return // startup fails as well and reports it
		}
	}
	cluster := c.reads(c.assets.Reader(ctx))
	cluster.Objects = func(string) iter.Seq[catalog.Object] { return store.All() } // not sorted yet
	for w := range c.managed() {
		if ctx.Err() == nil && !w.GetWorkloadFields().Paused && w.GetDeletionTimestamp() == nil {
			c.guarded("compile ahead for "+catalog.KeyOf(w).String(), func() { c.kind.Ahead.Compile(w, cluster) })
		}
	}
}

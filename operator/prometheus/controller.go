// Package prometheus reconciles Prometheus and PrometheusAgent objects, called owners
// in the code. One engine serves both: each kind has a controller of its own, and the
// controllers share what they read.
//
//	owner.go kind.go                   what the two kinds have in common, and where they differ
//	cluster.go selected.go selectors.go inputs.go
//	                                   gather: what an owner selects and what exists for it
//	compile.go recall.go ahead.go      compile monitors and rules, once per change; rules at the start
//	desired.go shards.go daemonset.go retention.go
//	                                   decide: which objects should exist (pure)
//	claims.go                          expand PVCs
//	spread.go slots.go toolarge.go partsreaders.go
//	                                   the configuration in Secrets, in parts where one is too small
//	pass.go checks.go tell.go          one reconciliation: gather, decide, write, report rejections
//	orphans.go                         pods left behind by the deletion of their StatefulSet
//	repair.go                          pods that block a rollout
//	deliver.go applied.go              the pods: annotate them, ask them, sum up their answers
//	asking.go                          Secrets and ConfigMaps that an owner refers to, and when to reread them
//	status.go report.go                the owner's status and metrics
//	bind.go finalizer.go               bindings in the statuses of monitors and rules, and their cleanup
//	sources.go stores.go events.go     informers (shared ones first); event → owner
//	polled.go                          what is polled without permission to watch
//	texts.go                           one copy of each rule file in memory
//	controller.go                      wiring
package prometheus

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	promclient "github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/events"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rollout"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Options are the settings of both kinds from the operator's flags.
type Options struct {
	ControllerID     string
	Scopes           Scopes
	Workload         workload.Config
	Capabilities     promconfig.Capabilities
	DisableUnmanaged bool        // never leave a configuration to the user
	InstantDelivery  func() bool // patch pods so that changes arrive immediately
	StorageClasses   bool        // StorageClasses may be read
	// RestartForReloaderImage replaces pods for a new image of the reloaders alone.
	RestartForReloaderImage bool
	Repair                  rollout.RepairPolicy
	// ConfigStatus writes into the statuses of monitors and rules which owners
	// select them.
	ConfigStatus bool
	Workers      int
	// Settled (optional) is called once, when the owners that were there at the
	// start have been looked at and none waits.
	Settled func()
}

// Clients are how the controllers reach the cluster.
type Clients struct {
	Kube     kubernetes.Interface
	Metadata metadata.Interface
	V1       *client.Client
	V1alpha1 *client.Client
	// ScrapeConfigs says whether the kind is installed and may be read; else it is
	// ignored until [Sources.ReadScrapeConfigs].
	ScrapeConfigs bool
	// Claims says whether PersistentVolumeClaims are made to grow; else they are not
	// looked at.
	Claims bool
	// Reads says which lists and watches fail; nil says nothing.
	Reads *informer.Reads
	// Events returns what a component sends events with; nil: none are sent.
	Events func(component string) events.EventRecorder
}

// of returns the client that reaches a kind of owner.
func (c Clients) of(k *Kind) *client.Client {
	if k.groupVersion == v1alpha1.SchemeGroupVersion {
		return c.V1alpha1
	}
	return c.V1
}

// Controller reconciles the owners of one kind.
type Controller struct {
	kind     *Kind
	opts     Options
	kube     kubernetes.Interface
	crds     *client.Client // reaches the owners
	recorder events.EventRecorder
	log      *slog.Logger

	stores    *stores
	writer    *apply.Writer
	assets    *assets.Cache
	compilers *Compilers
	index     selection.Index
	managed   controller.Managed
	metrics   *controller.Metrics
	loop      *controller.Loop
	nudger    *delivery.Nudger
	watcher   *delivery.Watcher
	binder    *binder // nil without Options.ConfigStatus

	mu     sync.Mutex
	owners map[types.NamespacedName]*ownerState
}

// New wires a controller over sources that others may use too. Nothing is
// contacted before Run.
func New(kind *Kind, opts Options, sources *Sources, clients Clients, log *slog.Logger, reg promclient.Registerer) *Controller {
	log = log.With("component", kind.Component)
	c := &Controller{
		kind: kind, opts: opts, kube: clients.Kube, crds: clients.of(kind), log: log,
		assets: sources.assets, compilers: sources.compilers,
		metrics: controller.NewMetrics(reg, kind.label),
		owners:  map[types.NamespacedName]*ownerState{},
	}
	if clients.Events != nil {
		c.recorder = clients.Events(kind.Component)
	}
	if opts.ConfigStatus {
		c.binder = newBinder()
	}
	c.stores = newStores(kind, clients, opts, sources, c.metrics)
	sources.join(workloads{
		owners: c.stores.owners, mine: c.mine, rolledOut: c.rolledOut,
		service: func(o Owner) types.NamespacedName {
			svc, _ := o.Workload(opts.Workload).GoverningService()
			return keyOf(svc)
		},
	})
	c.writer = apply.NewWriter(clients.Kube, c.stores.caches())
	c.metrics.Expect(kind.Name, "StatefulSet")
	c.metrics.Register(&c.managed)
	c.metrics.Register(specCollector{c.stores.owners})
	c.writer.OnRecreate = func(r apply.Recreation) {
		c.metrics.Recreated.Inc()
		log := log.With("namespace", r.Namespace, "name", r.Name, "causes", r.Causes)
		if r.Misfit == "" {
			log.Info("recreating StatefulSet, keeping its pods")
			return
		}
		log.Warn("recreating StatefulSet, replacing its pods in turn", "reason", r.Misfit)
	}
	c.writer.UsesService = c.usesService
	c.writer.OnOverwrite = c.metrics.Overwrote
	c.metrics.TrackConflicts(c.writer.Conflicts)
	if !opts.RestartForReloaderImage {
		c.writer.HoldImages = []string{opts.Workload.ConfigReloaderImage, opts.Workload.RulesReloaderImage}
	}
	c.loop = controller.NewLoop(controller.Kind{
		Name: kind.queue, Reconcile: c.reconcile, Status: c.report,
		Exists: func(key types.NamespacedName) bool {
			o, ok := c.stores.owners.Get(key.Namespace, key.Name)
			return ok && c.mine(o)
		},
		Idle: sync.OnceFunc(c.settled),
	}, log, c.metrics)
	ofKind := promclient.WrapRegistererWith(promclient.Labels{"controller": kind.label}, reg)
	c.watcher = delivery.NewWatcher(c.askPod, c.podSettled, ofKind)
	c.nudger = delivery.New(c.writer.PodAnnotation, c.watcher, log, ofKind)
	return c
}

func (c *Controller) settled() {
	if c.opts.Settled != nil {
		c.opts.Settled()
	}
}

// Run works until the context ends.
//
// Errors: the caches could not be filled.
func (c *Controller) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	if c.kind == Servers {
		wg.Go(func() { c.compileAhead(ctx) })
	}
	defer wg.Wait()
	failed := func(err error) error {
		if ctx.Err() != nil {
			return nil // the stores stop with the operator, and take no handlers then
		}
		return fmt.Errorf("%s: %w", c.kind.label, err)
	}
	if err := c.stores.start(ctx); err != nil {
		return failed(err)
	}
	// Owners must be in the index before the first event of a monitor asks it.
	for o := range c.stores.owners.All() {
		if c.mine(o) {
			c.index.Set(o.Key(), lenientRules(o))
			c.loop.EnqueueStatus(o.Key())
		}
	}
	if err := c.handleEvents(); err != nil {
		return failed(err)
	}
	c.metrics.Ready()
	c.log.Info("caches synced", "objects", c.index.Len())
	if c.index.Len() == 0 {
		c.settled() // no reconciliation will report it
	}

	wg.Go(func() { c.loop.Run(ctx, c.opts.Workers) })
	wg.Go(func() { c.nudger.Run(ctx, nudgeWorkers) })
	wg.Go(func() { c.watcher.Run(ctx, watchWorkers) })
	wg.Go(func() { c.poll(ctx) })
	if c.binder != nil {
		wg.Go(func() { c.runBinder(ctx) })
	}
	return nil
}

const (
	// nudgeWorkers is how many pods are told about changes at the same time.
	nudgeWorkers = 4
	// watchWorkers is how many pods are asked what they run at the same time, and as many
	// of those that did not answer.
	watchWorkers = 32
	// pollPeriod is the pause between checks of deadlines and stale statuses.
	pollPeriod = time.Minute
)

// poll wakes owners whose status does not show what is wanted, and those with a
// shard whose deadline has passed, and those with references that are not watched: no
// event tells of any.
func (c *Controller) poll(ctx context.Context) {
	tick, references := time.NewTicker(pollPeriod), time.NewTicker(recheckPeriod)
	defer tick.Stop()
	defer references.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.wake(now)
		case <-references.C:
			c.recheck()
		}
	}
}

func (c *Controller) wake(now time.Time) {
	for o := range c.stores.owners.All() {
		if c.mine(o) && !asWanted(o) {
			c.loop.EnqueueStatus(o.Key())
		}
	}
	for s := range c.stores.statefulSets.All() {
		deadline, err := time.Parse(time.RFC3339, s.Annotations[workload.AnnotationDeletionDeadline])
		if err == nil && !deadline.IsZero() && deadline.Before(now) {
			for _, key := range c.ownersOf(s) {
				c.loop.Enqueue(key)
			}
		}
	}
}

// asWanted reports whether the status shows everything wanted as available.
func asWanted(o Owner) bool {
	want := valueOr(o.Fields.Replicas, 1) * valueOr(o.Fields.Shards, 1)
	if o.usesDaemonSet() {
		want = o.Status.Replicas // as many as there are nodes
	}
	if o.Status.UpdatedReplicas != want || o.Status.AvailableReplicas != want {
		return false
	}
	for _, cond := range o.Status.Conditions {
		if cond.Type == v1.Available {
			return cond.Status == v1.ConditionTrue
		}
	}
	return false
}

// cluster is what a reconciliation reads.
func (c *Controller) cluster(references assets.Reader) Cluster {
	out := Cluster{
		NamespaceLabels: c.stores.namespaceLabels,
		ServiceMonitors: c.stores.services.Sorted(),
		PodMonitors:     c.stores.pods.Sorted(),
		Probes:          c.stores.probes.Sorted(),
		References:      references,
		Peers: func(_ *Kind, namespace string) []Peer {
			var out []Peer
			for _, o := range c.stores.owners.In(namespace) {
				out = append(out, Peer{Owner: o, Foreign: !c.mine(o)})
			}
			return out
		},
		StatefulSets: func(namespace, owner string) []*appsv1.StatefulSet {
			return c.writer.StatefulSets().List(namespace, labels.SelectorFromSet(labels.Set{workload.LabelOwnerName: owner}))
		},
		Pods: func(namespace, owner string) []*corev1.Pod {
			return c.podsOf(types.NamespacedName{Namespace: namespace, Name: owner})
		},
		Secrets: func(namespace string) []*corev1.Secret {
			return c.writer.Secrets().List(namespace, labels.Everything())
		},
	}
	if s := c.stores.scrapeConfigs(); s != nil {
		out.ScrapeConfigs = s.Sorted()
	}
	if claims := c.stores.claims; claims != nil {
		out.Claims = func(namespace, owner string) []*corev1.PersistentVolumeClaim {
			return append([]*corev1.PersistentVolumeClaim{}, claims.List(namespace, labels.SelectorFromSet(labels.Set{workload.LabelOwnerName: owner}))...)
		}
	}
	if c.stores.daemonSets != nil {
		out.DaemonSet = c.writer.DaemonSets().Get
	}
	if c.stores.rules != nil {
		out.PrometheusRules = c.stores.rules.Sorted()
		out.RuleConfigMaps = func(namespace, owner string) []*corev1.ConfigMap {
			return c.writer.ConfigMaps().List(namespace, labels.SelectorFromSet(labels.Set{workload.LabelRuleOwner: owner}))
		}
	}
	return out
}

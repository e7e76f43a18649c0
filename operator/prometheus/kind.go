// Package prometheus reconciles Prometheus objects.
//
//	cluster.go selected.go inputs.go   gather: what belongs to an owner, compiled
//	desired.go retention.go            decide: which objects should exist (pure)
//	pass.go checks.go tell.go          one pass: gather, decide, write, tell the pods and the user
//	status.go report.go                what is reported about it
//	stores.go events.go kind.go        informers, event → owner, wiring
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
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// ControllerName is the component name in logs and events.
const ControllerName = "prometheus-controller"

// metricLabel is the value of the label controller.
const metricLabel = "prometheus"

// Options are what the operator's flags say about this kind.
type Options struct {
	ControllerID     string
	Scopes           Scopes
	Workload         workload.Config
	Capabilities     promconfig.Capabilities
	DisableUnmanaged bool // never leave a configuration to the user
	InstantDelivery  bool // patch pods so that changes arrive at once
	StorageClasses   bool // StorageClasses may be read
	Workers          int
	// Settled (optional) is called once, when the owners that were there at the
	// start have been looked at and none waits.
	Settled func()
}

// Clients are how the controller reaches the cluster.
type Clients struct {
	Kube     kubernetes.Interface
	Metadata metadata.Interface
	CRDs     *client.Client
	// ScrapeConfigs reaches v1alpha1; nil where the kind is not installed or may
	// not be read: it is ignored then.
	ScrapeConfigs *client.Client
	Events        events.EventRecorder // nil: events are not sent
}

// Controller reconciles Prometheus objects.
type Controller struct {
	opts     Options
	kube     kubernetes.Interface
	crds     *client.Client
	recorder events.EventRecorder
	log      *slog.Logger

	stores    *stores
	writer    *apply.Writer
	assets    *assets.Cache
	compilers *Compilers
	chunks    document.Chunks // of all configurations
	index     selection.Index
	managed   controller.Managed
	metrics   *controller.Metrics
	loop      *controller.Loop
	nudger    *delivery.Nudger

	mu     sync.Mutex
	owners map[types.NamespacedName]*ownerState
}

// New wires a controller. Nothing is contacted before Run.
func New(opts Options, clients Clients, log *slog.Logger, reg promclient.Registerer) *Controller {
	log = log.With("component", ControllerName)
	c := &Controller{
		opts: opts, kube: clients.Kube, crds: clients.CRDs, recorder: clients.Events, log: log,
		metrics: controller.NewMetrics(reg, metricLabel),
		owners:  map[types.NamespacedName]*ownerState{},
	}
	c.stores = newStores(clients, opts.Scopes, c.metrics)
	c.writer = apply.NewWriter(clients.Kube, c.stores.caches())
	c.assets = assets.NewCache(clients.Kube, c.stores)
	c.compilers = newCompilers(c.assets.Current)
	c.metrics.Expect(v1.PrometheusKind, "StatefulSet")
	c.metrics.Register(&c.managed)
	c.metrics.Register(specCollector{c.stores.owners})
	c.writer.OnRecreate = func(name, causes string) {
		c.metrics.Recreated.Inc()
		log.Info("StatefulSet is created again: an immutable field changed", "name", name, "causes", causes)
	}
	c.loop = controller.NewLoop(controller.Kind{
		Name: metricLabel, Reconcile: c.reconcile, Status: c.report,
		Exists: func(key types.NamespacedName) bool {
			p, ok := c.stores.owners.Get(key.Namespace, key.Name)
			return ok && c.mine(p)
		},
		Idle: sync.OnceFunc(func() {
			if opts.Settled != nil {
				opts.Settled()
			}
		}),
	}, log, c.metrics)
	c.nudger = delivery.New(c.writer.PodAnnotation, c.askPod, log, promclient.WrapRegistererWith(promclient.Labels{"controller": metricLabel}, reg))
	return c
}

// Run works until the context ends.
//
// Errors: the caches could not be filled.
func (c *Controller) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { c.compileAhead(ctx) })
	defer wg.Wait()
	if err := c.stores.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("prometheus: %w", err)
	}
	// Owners must be in the index before the first event of a monitor asks it.
	for p := range c.stores.owners.All() {
		if c.mine(p) {
			c.index.Set(keyOf(p), lenientRules(p))
			c.loop.EnqueueStatus(keyOf(p))
		}
	}
	if err := c.handleEvents(); err != nil {
		return fmt.Errorf("prometheus: %w", err)
	}
	c.metrics.Ready()
	c.log.Info("caches are complete", "owners", c.index.Len())

	wg.Go(func() { c.loop.Run(ctx, c.opts.Workers) })
	wg.Go(func() { c.nudger.Run(ctx, nudgeWorkers) })
	wg.Go(func() { c.poll(ctx) })
	return nil
}

const (
	// nudgeWorkers is how many pods are told about changes at the same time.
	nudgeWorkers = 4
	// pollPeriod is the pause between looks at deadlines and stale statuses.
	pollPeriod = time.Minute
)

// poll wakes owners whose status does not show what is wanted, and those with a
// shard whose deadline has passed: no event tells of either.
func (c *Controller) poll(ctx context.Context) {
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.wake(now)
		}
	}
}

func (c *Controller) wake(now time.Time) {
	for p := range c.stores.owners.All() {
		if c.mine(p) && !settled(p) {
			c.loop.EnqueueStatus(keyOf(p))
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

// settled reports whether the status shows everything wanted as available.
func settled(p *v1.Prometheus) bool {
	want := valueOr(p.Spec.Replicas, 1) * valueOr(p.Spec.Shards, 1)
	if p.Status.UpdatedReplicas != want || p.Status.AvailableReplicas != want {
		return false
	}
	for _, cond := range p.Status.Conditions {
		if cond.Type == v1.Available {
			return cond.Status == v1.ConditionTrue
		}
	}
	return false
}

// cluster is what a pass reads.
func (c *Controller) cluster(ctx context.Context) Cluster {
	out := Cluster{
		NamespaceLabels: c.namespaceLabels,
		ServiceMonitors: c.stores.services.Sorted(),
		PodMonitors:     c.stores.pods.Sorted(),
		Probes:          c.stores.probes.Sorted(),
		PrometheusRules: c.stores.rules.Sorted(),
		References:      c.assets.Reader(ctx),
		RuleConfigMaps: func(namespace, owner string) []*corev1.ConfigMap {
			return c.writer.ConfigMaps().List(namespace, labels.SelectorFromSet(labels.Set{workload.LabelRuleOwner: owner}))
		},
		StatefulSets: func(namespace, owner string) []*appsv1.StatefulSet {
			return c.writer.StatefulSets().List(namespace, labels.SelectorFromSet(labels.Set{workload.LabelOwnerName: owner}))
		},
		Secrets: func(namespace string) []string {
			var names []string
			for _, s := range c.writer.Secrets().List(namespace, labels.Everything()) {
				names = append(names, s.Name)
			}
			return names
		},
	}
	if s := c.stores.scrapes; s != nil {
		out.ScrapeConfigs = s.Sorted()
	}
	return out
}

func (c *Controller) namespaceLabels(name string) (labels.Set, bool) {
	ns, ok := c.stores.namespaces.Get("", name)
	if !ok {
		return nil, false
	}
	return ns.Labels, true
}

package kubelet

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

const (
	// settleTime is the delay to coalesce changes of several nodes, for example when a
	// cluster grows.
	settleTime = 500 * time.Millisecond
	// firstRetry is the delay after the first failure. It doubles up to the sync period.
	firstRetry = time.Second
)

// Controller reconciles the Service and its endpoints. Create it with [New].
type Controller struct {
	opts    Options
	kube    kubernetes.Interface
	writer  *apply.Endpoints
	nodes   *informer.Store[*corev1.Node]
	sorted  func() iter.Seq[*corev1.Node] // returns the nodes sorted by name
	queue   *queue.Queue                  // has a single key
	log     *slog.Logger
	metrics *metrics

	stale atomic.Bool // whether live must be read first

	// used only by the single worker
	live     live
	reached  int             // how far the last sync got, see sync
	tidied   bool            // whether obsolete objects have been deleted
	reported map[string]bool // node problems that have been logged
}

// New returns a controller. It sends no requests before [Controller.Run]. reads may be
// nil.
func New(o Options, kube kubernetes.Interface, reads *informer.Reads, log *slog.Logger, reg prometheus.Registerer) *Controller {
	c := &Controller{
		opts: o, kube: kube, writer: apply.NewEndpoints(kube, o.Service.Namespace), log: log.With("component", "kubelet_endpoints"),
		queue: queue.New(queue.Options{First: min(firstRetry, o.SyncPeriod), Last: o.SyncPeriod}), metrics: newMetrics(reg, o),
	}
	c.nodes = informer.NewStore(kube.CoreV1().RESTClient(), "nodes", &corev1.Node{}, informer.Watch{
		LabelSelector: o.Selector, Reads: reads, Poll: &informer.Poll{Every: o.SyncPeriod},
	}, trim)
	c.sorted = c.nodes.Sorted
	c.stale.Store(true)
	return c
}

// Refresh triggers a full comparison with the live objects.
func (c *Controller) Refresh() {
	c.stale.Store(true)
	c.queue.Add(c.opts.Service)
}

// Run runs the controller until the context ends. It logs and retries failures, so they
// never stop the operator.
//
// Errors: the nodes could not be listed.
func (c *Controller) Run(ctx context.Context) error {
	c.nodes.Run(ctx)
	err := c.nodes.Wait(ctx)
	if err == nil {
		err = c.nodes.OnChange(c.changed)
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("kubelet endpoints: %w", err)
	}
	if c.opts.Lead != nil {
		c.opts.Lead(ctx) // if this fails, the context has ended, and the queue must end too
	}
	c.work(ctx)
	return nil
}

// changed handles a watch event of a node.
func (c *Controller) changed(e informer.Event[*corev1.Node]) {
	if e.Action != "update" || !sameAddresses(e.Before, e.After) {
		c.queue.AddAfter(c.opts.Service, settleTime)
	}
}

// work syncs immediately, after changes, and periodically.
func (c *Controller) work(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { c.queue.Run(ctx, 1, c.pass) })
	c.Refresh()
	tick := time.NewTicker(c.opts.SyncPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.Refresh()
		}
	}
}

func (c *Controller) pass(ctx context.Context, key types.NamespacedName) {
	err := c.sync(ctx)
	if err == nil {
		c.queue.Forget(key)
		return
	}
	c.stale.Store(true)
	if ctx.Err() == nil {
		c.log.Error("cannot sync kubelet endpoints, retrying", "service", key.String(), "err", err)
	}
	c.queue.Retry(key, c.reached)
}

// logProblems logs new node problems. If periodic is true, it counts all problems.
func (c *Controller) logProblems(all []problem, periodic bool) {
	now := make(map[string]bool, len(all))
	for _, p := range all {
		text := p.String()
		now[text] = true
		if !c.reported[text] {
			c.log.Warn("node has no usable address, leaving it out of the kubelet endpoints", "node", p.node, "err", p.err)
		}
		if periodic || !c.reported[text] {
			c.metrics.lookupErrors.Inc()
		}
	}
	c.reported = now
}

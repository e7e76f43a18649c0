package prometheus

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// binder writes the results of reconciliations into the statuses of monitors and
// rules. It runs beside them: many writes must not delay a configuration.
type binder struct {
	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
	busy  sync.Mutex // one owner at a time; held by who writes

	mu       sync.Mutex
	verdicts map[types.NamespacedName]map[string][]judged // of the last pass
}

// judged is one selected object and why it is rejected. Those of a kind are by
// "namespace/name".
type judged struct {
	object informer.Object
	err    error
}

const (
	firstBindRetry = 200 * time.Millisecond
	lastBindRetry  = 5 * time.Minute
	// bindDelay lets passes that follow each other be written together.
	bindDelay = 100 * time.Millisecond
)

func newBinder() *binder {
	return &binder{
		verdicts: map[types.NamespacedName]map[string][]judged{},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstBindRetry, lastBindRetry)),
	}
}

// newBindingsWriter returns a writer over the clients.
func newBindingsWriter(clients Clients) *bindings.Writer {
	return bindings.NewWriter(func(ctx context.Context, c bindings.Change) (string, []v1.WorkloadBinding, error) {
		crds := clients.V1
		if c.Object.Resource == v1alpha1.ScrapeConfigResource {
			crds = clients.V1alpha1
		}
		raw, err := sendBinding(ctx, crds, c)
		if err != nil {
			return "", nil, err
		}
		var now struct {
			Metadata struct{ ResourceVersion string }
			Status   v1.ConfigResourceStatus
		}
		err = json.Unmarshal(raw, &now)
		return now.Metadata.ResourceVersion, now.Status.Bindings, err
	})
}

func sendBinding(ctx context.Context, crds *client.Client, c bindings.Change) ([]byte, error) {
	o := c.Object
	if c.Status != nil {
		return crds.ReplaceStatus(ctx, bindable[o.Resource], o.Resource, o.Namespace, o.Name, o.Version, apply.FieldManager, c.Status)
	}
	return crds.PatchStatus(ctx, o.Resource, o.Namespace, o.Name, apply.FieldManager, c.Steps...)
}

// bindable are the kinds with bindings, by resource.
var bindable = map[string]string{
	v1.ServiceMonitorResource: v1.ServiceMonitorKind, v1.PodMonitorResource: v1.PodMonitorKind, v1.ProbeResource: v1.ProbeKind,
	v1alpha1.ScrapeConfigResource: v1alpha1.ScrapeConfigKind, v1.PrometheusRuleResource: v1.PrometheusRuleKind,
}

// bind queues the results of a reconciliation for writing.
func (c *Controller) bind(key types.NamespacedName, in Inputs) {
	if c.binder == nil {
		return
	}
	verdicts := map[string][]judged{}
	for _, m := range in.Monitors {
		verdicts[m.Kind] = append(verdicts[m.Kind], judged{m.Object, m.Err})
	}
	for _, r := range in.Rules {
		verdicts[v1.PrometheusRuleKind] = append(verdicts[v1.PrometheusRuleKind], judged{r.Object, r.Err})
	}
	c.binder.mu.Lock()
	c.binder.verdicts[key] = verdicts
	c.binder.mu.Unlock()
	c.binder.queue.AddAfter(key, bindDelay)
}

// unbind takes an owner that is being deleted out of all statuses.
func (c *Controller) unbind(ctx context.Context, key types.NamespacedName) error {
	if c.binder == nil {
		return nil
	}
	c.binder.mu.Lock()
	delete(c.binder.verdicts, key)
	c.binder.mu.Unlock()
	c.binder.busy.Lock()
	defer c.binder.busy.Unlock()
	return c.stores.bindings.Do(ctx, c.bindingChanges(key, nil))
}

// runBinder writes until the context ends.
func (c *Controller) runBinder(ctx context.Context) {
	defer context.AfterFunc(ctx, c.binder.queue.ShutDown)()
	for {
		key, shutdown := c.binder.queue.Get()
		if shutdown {
			return
		}
		if err := c.writeBindings(ctx, key); err != nil && ctx.Err() == nil {
			c.log.Warn("failed to update the status of monitors and rules, retrying", "key", key.String(), "err", err)
			c.binder.queue.AddRateLimited(key)
		} else {
			c.binder.queue.Forget(key)
		}
		c.binder.queue.Done(key)
	}
}

func (c *Controller) writeBindings(ctx context.Context, key types.NamespacedName) error {
	c.binder.busy.Lock()
	defer c.binder.busy.Unlock()
	c.binder.mu.Lock()
	verdicts, ok := c.binder.verdicts[key]
	c.binder.mu.Unlock()
	o, exists := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok || !exists || o.GetDeletionTimestamp() != nil {
		return nil
	}
	return c.stores.bindings.Do(ctx, c.bindingChanges(key, verdicts))
}

// bindingChanges compares all statuses with the verdicts. Bindings come before
// removals, as somebody who waits for one cares about the former.
func (c *Controller) bindingChanges(key types.NamespacedName, verdicts map[string][]judged) []bindings.Change {
	b := bound{
		writer: c.stores.bindings, owner: bindings.Owner{Resource: c.kind.Resource, Namespace: key.Namespace, Name: key.Name},
		verdicts: verdicts, now: metav1.Now().Rfc3339Copy(),
	}
	compareBindings(&b, v1.ServiceMonitorResource, c.stores.services.Sorted(), func(m *v1.ServiceMonitor) *v1.ConfigResourceStatus { return &m.Status })
	compareBindings(&b, v1.PodMonitorResource, c.stores.pods.Sorted(), func(m *v1.PodMonitor) *v1.ConfigResourceStatus { return &m.Status })
	compareBindings(&b, v1.ProbeResource, c.stores.probes.Sorted(), func(m *v1.Probe) *v1.ConfigResourceStatus { return &m.Status })
	if s := c.stores.scrapeConfigs(); s != nil {
		compareBindings(&b, v1alpha1.ScrapeConfigResource, s.Sorted(), func(m *v1alpha1.ScrapeConfig) *v1.ConfigResourceStatus { return &m.Status })
	}
	if s := c.stores.rules; s != nil {
		compareBindings(&b, v1.PrometheusRuleResource, s.Sorted(), func(r *v1.PrometheusRule) *v1.ConfigResourceStatus { return &r.Status })
	}
	return append(b.set, b.removed...)
}

// bound collects the changes of one owner.
type bound struct {
	writer       *bindings.Writer
	owner        bindings.Owner
	verdicts     map[string][]judged // by kind
	now          metav1.Time
	set, removed []bindings.Change
}

// compareBindings compares the objects of one resource. Both they and the verdicts
// are in order, so that each is looked at once.
func compareBindings[T informer.Object](b *bound, resource string, all iter.Seq[T], status func(T) *v1.ConfigResourceStatus) {
	verdicts := b.verdicts[bindable[resource]]
	for obj := range all {
		for len(verdicts) > 0 && informer.CompareKeys(verdicts[0].object, obj) < 0 {
			verdicts = verdicts[1:] // it is gone
		}
		selected := len(verdicts) > 0 && informer.CompareKeys(verdicts[0].object, obj) == 0
		have := status(obj).Bindings
		now := b.writer.Current(bindings.Object{
			Resource: resource, Namespace: obj.GetNamespace(), Name: obj.GetName(),
			Version: obj.GetResourceVersion(), Generation: obj.GetGeneration(), Bindings: have,
		})
		if !selected {
			if change, needed := bindings.Release(now, b.owner); needed {
				b.removed = append(b.removed, change)
			}
			continue
		}
		v := verdicts[0]
		if v.object.GetUID() != obj.GetUID() || v.object.GetGeneration() != obj.GetGeneration() {
			continue // another pass is on its way, and knows better
		}
		if change, needed := bindings.Bind(now, b.owner, v.err, b.now); needed {
			b.set = append(b.set, change)
		}
	}
}

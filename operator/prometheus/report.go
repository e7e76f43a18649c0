package prometheus

import (
	"context"

	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// report writes the status of an owner when it differs from what is there.
func (c *Controller) report(ctx context.Context, key types.NamespacedName, r controller.Result, known bool) error {
	p, ok := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok || !c.mine(p) || p.DeletionTimestamp != nil {
		return nil
	}
	if !known && len(p.Status.Conditions) > 0 {
		return nil // after a restart the last status stands until the first pass reports
	}
	owner := workload.ForServer(p, c.opts.Workload)
	want := Status(StatusInputs{
		Owner: p, Shards: c.shards(p, owner), Selector: owner.SelectorLabels(),
		Result: r, Known: known, Now: metav1.Now().Rfc3339Copy(),
	})
	if equality.Semantic.DeepEqual(want, p.Status) {
		return nil
	}
	write := func(s v1.PrometheusStatus) error {
		return c.crds.ApplyStatus(ctx, v1.PrometheusKind, v1.PrometheusResource, key.Namespace, key.Name, apply.FieldManager, s)
	}
	err := write(want)
	if err != nil && !apierrors.IsNotFound(err) {
		// Older definitions of the kind know no shards and selector.
		want.Shards, want.Selector = 0, ""
		err = write(want)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// shards is what the cluster shows of the shards that should exist.
func (c *Controller) shards(p *v1.Prometheus, owner *workload.Owner) []Shard {
	pods := c.stores.runningPods.List(p.Namespace, labels.SelectorFromSet(labels.Set{ownerNameLabel: p.Name}))
	var out []Shard
	for i, name := range owner.ShardNames() {
		s := Shard{ID: int32(i), Key: p.Namespace + "/" + name}
		if sts, ok := c.writer.StatefulSets().Get(p.Namespace, name); ok {
			s.StatefulSet, s.Pods = sts, ownedPods(sts, pods)
		}
		out = append(out, s)
	}
	return out
}

// specCollector shows what owners ask for.
type specCollector struct {
	owners *controller.Store[*v1.Prometheus]
}

var (
	replicasDesc = promclient.NewDesc("prometheus_operator_spec_replicas", "Replicas wanted of each shard.", []string{"namespace", "name"}, nil)
	shardsDesc   = promclient.NewDesc("prometheus_operator_spec_shards", "Shards wanted.", []string{"namespace", "name"}, nil)
	limitDesc    = promclient.NewDesc("prometheus_operator_prometheus_enforced_sample_limit",
		"Global limit on the number of scraped samples per scrape target.", []string{"namespace", "name"}, nil)
)

// Describe implements prometheus.Collector.
func (s specCollector) Describe(ch chan<- *promclient.Desc) {
	ch <- replicasDesc
	ch <- shardsDesc
	ch <- limitDesc
}

// Collect implements prometheus.Collector.
func (s specCollector) Collect(ch chan<- promclient.Metric) {
	for p := range s.owners.All() {
		gauge := func(d *promclient.Desc, v float64) {
			ch <- promclient.MustNewConstMetric(d, promclient.GaugeValue, v, p.Namespace, p.Name)
		}
		replicas := valueOr(p.Spec.Replicas, 1)
		if replicas < 0 {
			replicas = 1
		}
		gauge(replicasDesc, float64(replicas))
		gauge(shardsDesc, float64(valueOr(p.Spec.Shards, 1)))
		if l := p.Spec.EnforcedSampleLimit; l != nil {
			gauge(limitDesc, float64(*l))
		}
	}
}

package prometheus

import (
	"context"
	"strings"

	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// report writes the status of an owner when it differs from the existing one.
func (c *Controller) report(ctx context.Context, key types.NamespacedName, r controller.Result, known bool) error {
	o, ok := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok || !c.mine(o) || o.GetDeletionTimestamp() != nil {
		return nil
	}
	if !known && len(o.Status.Conditions) > 0 {
		return nil // after a restart the last status stands until the first pass reports
	}
	owner := o.Workload(c.opts.Workload)
	in := StatusInputs{Owner: o, Selector: owner.SelectorLabels(), Result: r, Known: known, Now: metav1.Now().Rfc3339Copy()}
	if o.usesDaemonSet() {
		in.Nodes = c.nodes(o, owner)
	} else {
		in.Shards = c.shards(o, owner)
		c.repair(ctx, in.Shards, valueOr(o.Fields.Replicas, 1))
	}
	in.Applied = c.applied(o, in)
	want := Status(in)
	if equality.Semantic.DeepEqual(want, *o.Status) {
		return nil
	}
	write := func(s v1.PrometheusStatus) error {
		return c.crds.ApplyStatus(ctx, c.kind.Name, c.kind.Resource, key.Namespace, key.Name, apply.FieldManager, s)
	}
	err := write(want)
	if lacksFields(err) {
		// Older CRDs know no shards and selector.
		want.Shards, want.Selector = 0, ""
		err = write(want)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// lacksFields reports whether the CRD does not know some field of what was written.
// An API server answers 500 to a server-side apply of such a field, so that only its
// words tell; what is temporary is tried again as it is.
func lacksFields(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) ||
		err != nil && strings.Contains(err.Error(), "field not declared in schema")
}

// shards is what the cluster shows of the shards that should exist.
func (c *Controller) shards(o Owner, owner *workload.Owner) []Shard {
	pods := c.podsOf(o.Key())
	var out []Shard
	for i, name := range owner.ShardNames() {
		s := Shard{ID: int32(i), Key: o.GetNamespace() + "/" + name}
		if sts, ok := c.writer.StatefulSets().Get(o.GetNamespace(), name); ok {
			s.StatefulSet, s.Pods = sts, ownedPods("StatefulSet", name, pods)
		}
		out = append(out, s)
	}
	return out
}

// nodes is what the cluster shows of an agent on every node. With the feature
// gate closed there is nothing.
func (c *Controller) nodes(o Owner, owner *workload.Owner) *Nodes {
	name := owner.PrefixedName()
	out := &Nodes{Key: o.GetNamespace() + "/" + name}
	if c.stores.daemonSets == nil {
		return out
	}
	if ds, ok := c.writer.DaemonSets().Get(o.GetNamespace(), name); ok {
		out.DaemonSet, out.Pods = ds, ownedPods("DaemonSet", name, c.podsOf(o.Key()))
	}
	return out
}

// specCollector shows what owners ask for.
type specCollector struct {
	owners ownerStore
}

var (
	replicasDesc = promclient.NewDesc("prometheus_operator_spec_replicas", "Desired replicas of each shard.", []string{"namespace", "name"}, nil)
	shardsDesc   = promclient.NewDesc("prometheus_operator_spec_shards", "Desired shards.", []string{"namespace", "name"}, nil)
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
	for o := range s.owners.All() {
		gauge := func(d *promclient.Desc, v float64) {
			ch <- promclient.MustNewConstMetric(d, promclient.GaugeValue, v, o.GetNamespace(), o.GetName())
		}
		replicas := valueOr(o.Fields.Replicas, 1)
		if replicas < 0 {
			replicas = 1
		}
		gauge(replicasDesc, float64(replicas))
		gauge(shardsDesc, float64(valueOr(o.Fields.Shards, 1)))
		if l := o.Fields.EnforcedSampleLimit; l != nil {
			gauge(limitDesc, float64(*l))
		}
	}
}

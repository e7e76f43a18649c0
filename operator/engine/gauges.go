package engine

import (
	promclient "github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// replicasGauge is a metric of every kind.
var replicasGauge = Gauge{
	Name: "prometheus_operator_spec_replicas", Help: "Desired replicas, of each shard where there are shards.",
	Value: func(w v1.Workload) (float64, bool) {
		replicas := ptr.Deref(w.GetWorkloadFields().Replicas, 1)
		if replicas < 0 {
			replicas = 1
		}
		return float64(replicas), true
	},
}

// gaugeCollector exports settings of workloads.
type gaugeCollector struct {
	gauges    []Gauge
	workloads workloads
}

func (g Gauge) desc() *promclient.Desc {
	return promclient.NewDesc(g.Name, g.Help, []string{"namespace", "name"}, nil)
}

// value returns Value(w), or no value if it panics: a scrape must not crash the operator.
func (g Gauge) value(w v1.Workload) (v float64, ok bool) {
	defer func() { _ = recover() }()
	if v1.Undecodable(w) != nil {
		return 0, false // the missing field may be the one to report
	}
	return g.Value(w)
}

// Describe implements prometheus.Collector.
func (c gaugeCollector) Describe(ch chan<- *promclient.Desc) {
	for _, g := range c.gauges {
		ch <- g.desc()
	}
}

// Collect implements prometheus.Collector.
func (c gaugeCollector) Collect(ch chan<- promclient.Metric) {
	for _, g := range c.gauges {
		desc := g.desc()
		for w := range c.workloads.all() {
			if v, ok := g.value(w); ok {
				ch <- promclient.MustNewConstMetric(desc, promclient.GaugeValue, v, w.GetNamespace(), w.GetName())
			}
		}
	}
}

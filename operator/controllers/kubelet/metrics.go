package kubelet

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Values of the label resource.
const (
	resourceEndpoints = "endpoints"
	resourceSlices    = "endpointslice"
)

// metrics are the metrics of the controller. They are registered only if it runs.
type metrics struct {
	lookupErrors  prometheus.Counter
	syncs, failed *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, o Options) *metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		out := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"resource"})
		out.WithLabelValues(resourceEndpoints)
		out.WithLabelValues(resourceSlices)
		reg.MustRegister(out)
		return out
	}
	m := &metrics{
		lookupErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prometheus_operator_node_address_lookup_errors_total",
			Help: "Nodes, or addresses of nodes, left out of the kubelet Service because they have no usable address.",
		}),
		syncs:  counter("prometheus_operator_node_syncs_total", "Comparisons of the kubelet endpoints with the nodes."),
		failed: counter("prometheus_operator_node_syncs_failed_total", "Comparisons of the kubelet endpoints with the nodes that failed."),
	}
	reg.MustRegister(m.lookupErrors)
	for resource, keeps := range map[string]func() bool{
		resourceEndpoints: func() bool { return o.Endpoints }, resourceSlices: o.keepsSlices,
	} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prometheus_operator_kubelet_managed_resource", Help: "1 if the operator keeps the kubelet endpoints as this resource, else 0.",
			ConstLabels: prometheus.Labels{"resource": resource},
		}, func() float64 {
			if keeps() {
				return 1
			}
			return 0
		}))
	}
	return m
}

// synced counts one sync of a resource.
func (m *metrics) synced(resource string, err error) {
	m.syncs.WithLabelValues(resource).Inc()
	if err != nil {
		m.failed.WithLabelValues(resource).Inc()
	}
}

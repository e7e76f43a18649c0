package central

import "github.com/prometheus/client_golang/prometheus"

var (
	leftOutDesc   = prometheus.NewDesc("prometheus_operator_discovery_left_out_targets", "Targets in no list, by reason: share: more than the share of their namespace, size: too many labels, cost: too expensive to evaluate.", []string{"reason"}, nil)
	forbiddenDesc = prometheus.NewDesc("prometheus_operator_discovery_forbidden", "What ServiceAccounts of workloads may not discover, by the namespace and the name of the workload.", []string{"workload_namespace", "workload"}, nil)
	waitingDesc   = prometheus.NewDesc("prometheus_operator_discovery_waiting_jobs", "Jobs whose targets are not known: their last ones stay in the lists.", nil, nil)
	unreadDesc    = prometheus.NewDesc("prometheus_operator_discovery_unread_objects", "Objects whose jobs cannot be evaluated: their last targets stay in the lists.", nil, nil)
	outdatedDesc  = prometheus.NewDesc("prometheus_operator_discovery_outdated_workloads", "Workloads whose lists are not those of their current configuration.", nil, nil)
	memoryDesc    = prometheus.NewDesc("prometheus_operator_discovery_target_bytes", "Bytes of the targets in all lists before they are compressed.", nil, nil)
	memoryMost    = prometheus.NewDesc("prometheus_operator_discovery_target_limit_bytes", "Limit of prometheus_operator_discovery_target_bytes.", nil, nil)
)

// Describe implements prometheus.Collector.
func (r *Runner) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, ch) }

// Collect implements prometheus.Collector.
func (r *Runner) Collect(ch chan<- prometheus.Metric) {
	gauge := func(of *prometheus.Desc, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, float64(n), labels...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	share, size, cost, waiting, unread, outdated := 0, 0, 0, 0, 0, 0
	type key struct{ namespace, name string }
	forbidden := map[key]int{} // a Prometheus and a PrometheusAgent may have the same name
	for _, w := range r.workloads {
		unread += len(w.unread)
		if w.problem != "" || w.stale != "" {
			outdated++
		}
		if n := len(w.forbidden()); n > 0 {
			forbidden[key{w.Namespace, w.Name}] += n
		}
		for _, j := range w.jobs {
			unknown, oversized, beyond := j.leftOut()
			cost, size = cost+unknown, size+oversized
			for _, of := range beyond {
				share += of.Targets
			}
			if !j.isKnown {
				waiting++
			}
		}
	}
	gauge(leftOutDesc, share, "share")
	gauge(leftOutDesc, size, "size")
	gauge(leftOutDesc, cost, "cost")
	for of, n := range forbidden {
		gauge(forbiddenDesc, n, of.namespace, of.name)
	}
	gauge(waitingDesc, waiting)
	gauge(unreadDesc, unread)
	gauge(outdatedDesc, outdated)
	gauge(memoryDesc, int(r.memory.Used()))
	gauge(memoryMost, int(r.memory.Most))
}

package central

import "github.com/prometheus/client_golang/prometheus"

var (
	leftOutDesc   = prometheus.NewDesc("prometheus_operator_discovery_left_out_targets", "Targets in no list, by reason: share: more than the share of their namespace, size: too many labels, cost: too expensive to evaluate.", []string{"reason"}, nil)
	forbiddenDesc = prometheus.NewDesc("prometheus_operator_discovery_forbidden", "Resources in namespaces that ServiceAccounts of workloads may not discover, although jobs do.", nil, nil)
	waitingDesc   = prometheus.NewDesc("prometheus_operator_discovery_waiting_jobs", "Jobs whose targets are not known: their last ones stay in the lists.", nil, nil)
	unreadDesc    = prometheus.NewDesc("prometheus_operator_discovery_unread_objects", "Objects whose jobs cannot be evaluated: their last targets stay in the lists.", nil, nil)
	outdatedDesc  = prometheus.NewDesc("prometheus_operator_discovery_outdated_workloads", "Workloads whose lists are not those of their current configuration.", nil, nil)
	tooLargeDesc  = prometheus.NewDesc("prometheus_operator_discovery_too_large_objects", "EndpointSlices, pods and others whose targets are left out, because they have too many labels.", nil, nil)
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
	forbidden := 0
	for _, w := range r.workloads {
		unread += len(w.unread)
		if w.problem != "" || w.stale != "" {
			outdated++
		}
		forbidden += len(w.forbidden())
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
	gauge(forbiddenDesc, forbidden)
	gauge(waitingDesc, waiting)
	gauge(unreadDesc, unread)
	gauge(outdatedDesc, outdated)
	gauge(tooLargeDesc, len(r.source.Groups.TooLarge()))
	gauge(memoryDesc, int(r.memory.Used()))
	gauge(memoryMost, int(r.memory.Most))
}

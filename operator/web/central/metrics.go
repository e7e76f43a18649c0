package central

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/targets/handoff"
)

var (
	leftOutDesc   = prometheus.NewDesc("prometheus_operator_discovery_left_out_targets", "Targets in no list, by reason: share: more than the share of their namespace, size: too many labels, cost: too expensive to evaluate.", []string{"reason"}, nil)
	forbiddenDesc = prometheus.NewDesc("prometheus_operator_discovery_forbidden", "Resources in namespaces that ServiceAccounts of workloads may not discover, although jobs do.", nil, nil)
	waitingDesc   = prometheus.NewDesc("prometheus_operator_discovery_waiting_jobs", "Jobs whose targets are not known: their last ones stay in the lists.", nil, nil)
	unreadDesc    = prometheus.NewDesc("prometheus_operator_discovery_unread_objects", "Objects whose jobs cannot be evaluated: their last targets stay in the lists.", nil, nil)
	outdatedDesc  = prometheus.NewDesc("prometheus_operator_discovery_outdated_workloads", "Workloads whose lists are not those of their current configuration.", nil, nil)
	tooLargeDesc  = prometheus.NewDesc("prometheus_operator_discovery_too_large_objects", "EndpointSlices, pods and others whose targets are left out, because they have too many labels.", nil, nil)
	movesDesc     = prometheus.NewDesc("prometheus_operator_discovery_moves_total", "What happened to units of targets that move between shards: started, done, back (the new shard did not scrape it in time, or it is not wanted there any more), "+
		"again (it is back on its shard, as the pods of the new one stopped), direct (without an overlap, as its shard is dead); and to shards: slow (gets none for ten minutes), dead (given up). While this replica leads.", []string{"event"}, nil)
	movingDesc    = prometheus.NewDesc("prometheus_operator_discovery_moving_units", "Units of targets that are on their way between two shards.", nil, nil)
	moveWaitDesc  = prometheus.NewDesc("prometheus_operator_discovery_blocked_units", "Units of targets that wait for their way to another shard.", nil, nil)
	imbalanceDesc = prometheus.NewDesc("prometheus_operator_discovery_shard_imbalance", "Series of the fullest shard by what it should have, of the workload in which that is highest; 0 without placement by series.", nil, nil)
	heldDesc      = prometheus.NewDesc("prometheus_operator_discovery_held_workloads", "Workloads whose number of shards does not follow their series, by reason: AtMaxShards, NotRetained.", []string{"reason"}, nil)
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
	r.collectBalance(ch)
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

// collectBalance collects the metrics of the placement by series. r.mu must be held.
func (r *Runner) collectBalance(ch chan<- prometheus.Metric) {
	moving, waiting, imbalance := 0, 0, 0
	held := map[scaling.Reason]int{scaling.AtMaxShards: 0, scaling.NotRetained: 0}
	totals := maps.Clone(r.ended)
	for _, w := range r.workloads {
		if w.by == nil {
			continue
		}
		if s := w.scalingOf(); s != nil && s.Held != nil {
			held[s.Held.Reason]++
		}
		s := w.by.Status()
		moving, waiting, imbalance = moving+s.Moving, waiting+s.Waiting, max(imbalance, s.Imbalance())
		for event, n := range s.Totals {
			totals[event] += n
		}
	}
	for _, kind := range handoff.Kinds {
		ch <- prometheus.MustNewConstMetric(movesDesc, prometheus.CounterValue, float64(totals[kind.String()]), kind.String())
	}
	for reason, n := range held {
		ch <- prometheus.MustNewConstMetric(heldDesc, prometheus.GaugeValue, float64(n), string(reason))
	}
	ch <- prometheus.MustNewConstMetric(movingDesc, prometheus.GaugeValue, float64(moving))
	ch <- prometheus.MustNewConstMetric(moveWaitDesc, prometheus.GaugeValue, float64(waiting))
	ch <- prometheus.MustNewConstMetric(imbalanceDesc, prometheus.GaugeValue, float64(imbalance)/1000)
}

package targets

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	connected   prometheus.Gauge
	connections prometheus.Counter
	updates     prometheus.Counter
	errors      *prometheus.CounterVec

	disagreements          prometheus.Gauge
	reports, reportsFailed prometheus.Counter

	inventories, inventoriesFailed prometheus.Counter
}

// newMetrics registers the metrics. now is the clock for the age of the list.
func newMetrics(reg prometheus.Registerer, l *list, started time.Time) *metrics {
	gauge := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("reloader_targets_age_seconds", "Time since the discovery server confirmed the list of targets; since the start if there is no list.", func() float64 {
		_, _, _, confirmed := l.size()
		if confirmed.IsZero() {
			confirmed = started
		}
		return time.Since(confirmed).Seconds()
	})
	gauge("reloader_targets_leader", "Number of the leader that sent the list of targets; the first part of its version.", func() float64 {
		v, _, _, _ := l.size()
		return float64(v.leader)
	})
	gauge("reloader_targets_sequence", "Number of the list of targets; the second part of its version.", func() float64 {
		v, _, _, _ := l.size()
		return float64(v.sequence)
	})
	gauge("reloader_targets_jobs", "Jobs in the list of targets.", func() float64 {
		_, jobs, _, _ := l.size()
		return float64(jobs)
	})
	gauge("reloader_targets_bytes", "Size of the list of targets in memory, which is compressed.", func() float64 {
		_, _, packed, _ := l.size()
		return float64(packed)
	})
	m := &metrics{
		connected:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "reloader_targets_connected", Help: "1 while the stream of the discovery server is open."}),
		connections: prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_connections_total", Help: "Connection attempts to the discovery server."}),
		updates:     prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_updates_total", Help: "Updates of the list of targets that were applied."}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reloader_targets_errors_total",
			Help: "Failures to receive or store the list of targets, by reason. The last list stays."}, []string{"reason"}),
		disagreements: prometheus.NewGauge(prometheus.GaugeOpts{Name: "reloader_targets_disagreements",
			Help: "Targets that are in the list and that Prometheus does not scrape, or that it scrapes and that are not in the list, for longer than it takes to apply a change."}),
		reports:           prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_reports_total", Help: "Reports to the discovery server, including failed ones."}),
		reportsFailed:     prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_reports_failed_total", Help: "Reports that the discovery server did not accept, or without a comparison because Prometheus did not answer."}),
		inventories:       prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_inventories_total", Help: "Inventories for the discovery server, including failed ones."}),
		inventoriesFailed: prometheus.NewCounter(prometheus.CounterOpts{Name: "reloader_targets_inventories_failed_total", Help: "Inventories that the discovery server did not accept."}),
	}
	reg.MustRegister(m.connected, m.connections, m.updates, m.errors, m.disagreements, m.reports, m.reportsFailed, m.inventories, m.inventoriesFailed)
	for _, r := range reasons {
		m.errors.WithLabelValues(string(r))
	}
	return m
}

package configreloader

import (
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

// metrics are the metrics of the program. No label has a path or a URL as its value.
type metrics struct {
	reloads, reloadsFailed prometheus.Counter
	lastOK, lastOKTime     prometheus.Gauge
	applies, appliesFailed prometheus.Counter
	unset                  prometheus.Gauge
	watchEvents, watchErrs prometheus.Counter
}

// newMetrics registers all metrics with reg. watches is called on every scrape.
func newMetrics(reg prometheus.Registerer, method string, watches func() float64) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		reg.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		reg.MustRegister(g)
		return g
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "reloader_info", Help: "Constant 1; the label says how the server is reloaded.",
		ConstLabels: prometheus.Labels{"method": method},
	})
	info.Set(1)
	reg.MustRegister(
		info,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "reloader_watches", Help: "Files and folders being watched.",
		}, watches),
		version.NewCollector("prometheus_config_reloader"),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
			collectors.MetricsGC, collectors.MetricsScheduler, collectors.MetricsMemory,
			collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/sync/.*")},
		)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return &metrics{
		reloads:       counter("reloader_reloads_total", "Reload attempts, including failed ones."),
		reloadsFailed: counter("reloader_reloads_failed_total", "Failed reload attempts."),
		lastOK:        gauge("reloader_last_reload_successful", "1 if the server confirmed what is on disk, 0 if the last attempt, or reading the inputs, failed."),
		lastOKTime:    gauge("reloader_last_reload_success_timestamp_seconds", "Unix time of the last successful reload; 0 before the first."),
		applies:       counter("reloader_config_apply_operations_total", "Checks of the inputs, caused by a change or by the watch interval, and failed retries."),
		appliesFailed: counter("reloader_config_apply_operations_failed_total", "Checks of the inputs that failed before a reload."),
		unset:         gauge("reloader_config_environment_variable_expansion_errors", "References to unset variables in the configuration on disk."),
		watchEvents:   counter("reloader_watch_events_total", "File system events received."),
		watchErrs:     counter("reloader_watch_errors_total", "Errors of the file system watches."),
	}
}

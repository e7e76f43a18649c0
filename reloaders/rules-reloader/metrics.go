package rulesreloader

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/version"
)

const namespace = "configmap_reload"

// Values of the label reason.
const (
	reasonCreate    = "client_request_create"
	reasonDo        = "client_request_do"
	reasonResponse  = "client_response"
	reasonExhausted = "retries_exhausted"
)

// reasons maps the reason of a failed attempt to the established label value.
var reasons = map[reload.Reason]string{
	reload.BadRequest:  reasonCreate,
	reload.Unreachable: reasonDo,
	reload.Unverified:  reasonDo,
	reload.Timeout:     reasonDo,
	reload.Rejected:    reasonResponse,
}

type metrics struct {
	lastError   *prometheus.GaugeVec   // webhook
	duration    *prometheus.GaugeVec   // webhook
	successTime *prometheus.GaugeVec   // webhook
	success     *prometheus.CounterVec // webhook
	errors      *prometheus.CounterVec // webhook, reason
	requests    *prometheus.CounterVec // webhook, status_code
	watchErrors prometheus.Counter
}

// newMetrics registers all metrics with reg. watches is called on every scrape.
func newMetrics(reg prometheus.Registerer, watches func() float64) *metrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, []string{"webhook"})
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, append([]string{"webhook"}, labels...))
	}
	m := &metrics{
		lastError:   gauge("last_reload_error", "1 if the last attempt, or reading the folders, failed; 0 after a success."),
		duration:    gauge("last_request_duration_seconds", "Duration of the last successful request; of the whole reload with --reload-method=signal."),
		successTime: gauge("last_reload_success_timestamp_seconds", "Unix time of the last success; 0 before the first."),
		success:     counter("success_reloads_total", "Successful reloads."),
		errors:      counter("request_errors_total", "Failed attempts by reason, and changes that ran out of attempts.", "reason"),
		requests:    counter("requests_total", "Responses by status code.", "status_code"),
		watchErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "watcher_errors_total", Help: "Errors of the file system watches.",
		}),
	}
	reg.MustRegister(
		m.lastError, m.duration, m.successTime, m.success, m.errors, m.requests, m.watchErrors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "watches", Help: "Folders being watched.",
		}, watches),
		version.NewCollector("rules_reloader"),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// announce creates the series of a webhook, so that they exist before the first event.
func (m *metrics) announce(webhook string) {
	m.lastError.WithLabelValues(webhook)
	m.duration.WithLabelValues(webhook)
	m.successTime.WithLabelValues(webhook)
	m.success.WithLabelValues(webhook)
	for _, reason := range []string{reasonCreate, reasonDo, reasonResponse, reasonExhausted} {
		m.errors.WithLabelValues(webhook, reason)
	}
}

// attempted counts an attempt. took is the duration of its request.
func (m *metrics) attempted(webhook string, a reload.Attempt, took time.Duration) {
	if a.Err != nil {
		m.lastError.WithLabelValues(webhook).Set(1)
		m.errors.WithLabelValues(webhook, reasons[reload.ReasonOf(a.Err)]).Inc()
		return
	}
	m.lastError.WithLabelValues(webhook).Set(0)
	m.duration.WithLabelValues(webhook).Set(took.Seconds())
	m.successTime.WithLabelValues(webhook).SetToCurrentTime()
	m.success.WithLabelValues(webhook).Inc()
}

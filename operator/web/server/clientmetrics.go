package server

import (
	"context"
	"net/url"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/metrics"
)

var syncMetrics = regexp.MustCompile(`^/sync/.*`)

// clientMetrics are metrics about requests of the operator to the API server.
type clientMetrics struct {
	requests          *prometheus.CounterVec
	latency, throttle *prometheus.SummaryVec
}

// WatchClient registers metrics about every call to the API server. The hooks of client-go are
// global to the process; the last call wins.
func WatchClient(reg prometheus.Registerer) {
	m := &clientMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prometheus_operator_kubernetes_client_http_requests_total", Help: "API requests by status code.",
		}, []string{"status_code"}),
		latency: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "prometheus_operator_kubernetes_client_http_request_duration_seconds", Help: "Duration of API requests.",
		}, []string{"endpoint"}),
		throttle: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "prometheus_operator_kubernetes_client_rate_limiter_duration_seconds", Help: "Time API requests waited for the client-side rate limit.",
		}, []string{"endpoint"}),
	}
	reg.MustRegister(m.requests, m.latency, m.throttle)
	metrics.RequestResult = resultHook{m}
	metrics.RequestLatency = durationHook{m.latency}
	metrics.RateLimiterLatency = durationHook{m.throttle}
}

type resultHook struct{ m *clientMetrics }

// Increment implements metrics.ResultMetric.
func (h resultHook) Increment(_ context.Context, code, _, _ string) {
	h.m.requests.WithLabelValues(code).Inc()
}

type durationHook struct{ v *prometheus.SummaryVec }

// Observe implements metrics.LatencyMetric.
func (h durationHook) Observe(_ context.Context, _ string, u url.URL, d time.Duration) {
	h.v.WithLabelValues(u.EscapedPath()).Observe(d.Seconds())
}

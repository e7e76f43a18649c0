package httpserver

import (
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// WriteJSON responds with v as JSON and a final newline.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The status has been sent, so an error cannot be reported to the client.
	_, _ = w.Write(append(body, '\n'))
}

// Up responds with 200 and {"status":"up"} to any method: the process is alive and
// serving.
func Up(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"up"}`))
}

// metricsAtATime limits concurrent requests for metrics: each holds all of them until its client has
// read them, and up to 1 MiB to compress them.
const metricsAtATime = 4

// Metrics exposes reg and counts its own errors there as
// promhttp_metric_handler_errors_total, which is initialized to 0.
func Metrics(reg *prometheus.Registry) http.Handler {
	return LimitMetrics(promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg}))
}

// LimitMetrics limits the concurrent requests to a handler that exposes metrics.
func LimitMetrics(h http.Handler) http.Handler { return Limit(metricsAtATime, h) }

package web

import (
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Route labels of metrics for requests without a Route.
const (
	otherPath = "other"
	pagesName = "page"
)

// Reasons of rejections.
const (
	busy         = "busy"
	noToken      = "token"
	noPermission = "permission"
	tooManySSE   = "streams"
)

// metrics of requests to the API and the pages.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
	rejected *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prometheus_operator_web_requests_total", Help: "Requests to the HTTP API and the pages.",
		}, []string{"route", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prometheus_operator_web_request_duration_seconds", Help: "Duration of requests to the HTTP API and the pages, without streams.",
			Buckets: []float64{.005, .025, .1, .5, 2.5, 10},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prometheus_operator_web_requests_in_flight", Help: "Requests to the HTTP API and the pages that are being answered.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prometheus_operator_web_streams", Help: "Open streams of changes.",
		}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prometheus_operator_web_rejected_total",
			Help: "Rejected requests to the HTTP API and the pages: too many at a time (busy, streams), no valid token (token), no permission (permission).",
		}, []string{"reason"}),
	}
	for _, name := range append(routeNames(), otherPath, pagesName) {
		m.requests.WithLabelValues(name, "200")
		if name != eventsName {
			m.duration.WithLabelValues(name)
		}
	}
	for _, reason := range []string{busy, noToken, noPermission, tooManySSE} {
		m.rejected.WithLabelValues(reason)
	}
	return m
}

func routeNames() (out []string) {
	for _, r := range Routes() {
		out = append(out, r.Name)
	}
	return out
}

func (m *metrics) register(reg prometheus.Registerer) {
	reg.MustRegister(m.requests, m.duration, m.inFlight, m.streams, m.rejected)
}

// watch counts and times the requests of a route.
func (m *metrics) watch(route string, next http.Handler) http.Handler {
	return promhttp.InstrumentHandlerDuration(m.duration.MustCurryWith(prometheus.Labels{"route": route}), m.count(route, next))
}

// count counts the requests of a route.
func (m *metrics) count(route string, next http.Handler) http.Handler {
	return promhttp.InstrumentHandlerCounter(m.requests.MustCurryWith(prometheus.Labels{"route": route}), next)
}

// refused counts an authentication or authorization error.
func (m *metrics) refused(err error) {
	is, ok := errors.AsType[*apierrors.StatusError](err)
	switch {
	case !ok:
	case apierrors.IsUnauthorized(is):
		m.rejected.WithLabelValues(noToken).Inc()
	case apierrors.IsForbidden(is):
		m.rejected.WithLabelValues(noPermission).Inc()
	}
}

// Package server assembles the HTTP handler of the operator: metrics, health, profiles and
// webhooks.
package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/version"
)

// Registry returns a registry with the metrics of the process and the build.
//
// program: prefix of the build metric, "prometheus_operator".
func Registry(program string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
			collectors.MetricsGC, collectors.MetricsScheduler, collectors.MetricsMemory,
			collectors.GoRuntimeMetricsRule{Matcher: syncMetrics},
		)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		version.NewCollector(program),
	)
	return reg
}

// Part is a handler that registers its own paths.
type Part interface{ Register(mux *http.ServeMux) }

// Guard (optional, for a [Part]) restricts access to profiles.
type Guard interface {
	Guard(profiles http.Handler) http.Handler
}

// Handler serves /metrics, /healthz, /readyz, /debug/pprof/ and the paths of parts: the webhooks,
// the HTTP API. ready reports whether the caches have synced.
func Handler(reg *prometheus.Registry, ready func() bool, parts ...Part) http.Handler {
	mux := http.NewServeMux()
	for _, p := range parts {
		p.Register(mux)
	}
	mux.Handle("GET /metrics", httpserver.Metrics(reg))
	mux.HandleFunc("/metrics", onlyGet) // otherwise a part with the root path would respond
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "the caches are not complete yet", http.StatusServiceUnavailable)
		}
	})
	guarded := profiles()
	for _, p := range parts {
		if g, is := p.(Guard); is {
			guarded = g.Guard(guarded)
		}
	}
	mux.Handle("/debug/pprof/", guarded)
	return mux
}

func onlyGet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	w.WriteHeader(http.StatusMethodNotAllowed)
}

// WebhookHandler serves only the webhooks, /metrics and /healthz.
func WebhookHandler(reg *prometheus.Registry, webhooks Part) http.Handler {
	mux := http.NewServeMux()
	webhooks.Register(mux)
	mux.Handle("GET /metrics", httpserver.Metrics(reg))
	mux.HandleFunc("/healthz", httpserver.Up)
	return mux
}
